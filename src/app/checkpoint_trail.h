/* The part of a checkpoint that holds a session's trail (train/trail.h), and its notes. */
#ifndef APP_CHECKPOINT_TRAIL_H
#define APP_CHECKPOINT_TRAIL_H

#include "app/checkpoint.h"
#include "io/safetensors.h"
#include "train/session.h"

/* Shows the trail's blocks except the base, by their names in the file. */
void checkpoint_see_trail(struct session *s, memory_fn see, void *ctx);
/* Shows the base, under the names of the session's memory. */
void checkpoint_see_base(struct session *s, memory_fn see, void *ctx);

/* Whether a block holds valid numbers (checkpoint.c). */
consm_status checkpoint_block_sound(const char *path, const char *name, const void *block,
                                    size_t bytes);

/* Copies the trail of a file. Its blocks are checked like those of the session's memory. */
consm_status checkpoint_read_trail(struct session *s, const struct safetensors *file,
                                   const char *path);

/* The curve as a block; none without points. */
void checkpoint_see_curve(const struct checkpoint_run *run, memory_fn see, void *ctx);
consm_status checkpoint_read_curve(struct checkpoint_run *run, const struct safetensors *file,
                                   const char *path);

/* Notes a text in a file's metadata, and stores it with the run. */
consm_status checkpoint_note(struct safetensors_writer *w, struct checkpoint_run *run,
                             const char *key, const char *value);
/* Notes again what was stored; stores what a file has. */
consm_status checkpoint_note_again(struct safetensors_writer *w, const struct checkpoint_run *run);
consm_status checkpoint_remember(struct checkpoint_run *run, const struct safetensors *file);

#endif
