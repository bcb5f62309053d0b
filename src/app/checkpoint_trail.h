/* The part of a checkpoint that is a session's trail (train/trail.h), and its notes. */
#ifndef APP_CHECKPOINT_TRAIL_H
#define APP_CHECKPOINT_TRAIL_H

#include "app/checkpoint.h"
#include "io/safetensors.h"
#include "train/session.h"

/* Shows the blocks of the trail but for the base, as they are called in the file. */
void checkpoint_see_trail(struct session *s, memory_fn see, void *ctx);
/* Shows the base, under the names of the session's memory. */
void checkpoint_see_base(struct session *s, memory_fn see, void *ctx);

/* Whether a block holds numbers that training makes (checkpoint.c). */
consm_status checkpoint_block_sound(const char *path, const char *name, const void *block,
                                    size_t bytes);

/* Copies the trail of a file. Blocks are looked at as those of the session's memory are. */
consm_status checkpoint_read_trail(struct session *s, const struct safetensors *file,
                                   const char *path);

/* The curve as a block; none where there are no points. */
void checkpoint_see_curve(const struct checkpoint_run *run, memory_fn see, void *ctx);
consm_status checkpoint_read_curve(struct checkpoint_run *run, const struct safetensors *file,
                                   const char *path);

/* Notes a text in a file's metadata, and remembers it with the run. */
consm_status checkpoint_note(struct safetensors_writer *w, struct checkpoint_run *run,
                             const char *key, const char *value);
/* Notes again what was remembered; remembers what a file has. */
consm_status checkpoint_note_again(struct safetensors_writer *w, const struct checkpoint_run *run);
consm_status checkpoint_remember(struct checkpoint_run *run, const struct safetensors *file);

#endif
