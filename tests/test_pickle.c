/* Pickles of every protocol are read correctly; everything else is refused by name and position. */
#include "check.h"

#include "data/readers/npy_csr.h"
#include "io/file.h"
#include "io/pickle/pickle.h"

static void open_fixture(struct file_map *map, const char *name, int protocol)
{
    char path[512];
    snprintf(path, sizeof path, "%s/data/pickle/%s.%d", TESTS_DIR, name, protocol);
    OK(file_map(map, path));
}

/* [[0, 2, 0], [0, 0, 0], [1.5, 0, -1], [0, 4, 0]] */
static void check_matrix(const struct pickle *p)
{
    static const int64_t start[] = {0, 1, 1, 3, 4};
    static const int32_t col[] = {1, 0, 2, 1};
    static const float val[] = {2, 1.5f, -1, 4};
    struct npy_csr parts;
    struct csr *a;
    OK(pickle_root_csr(&parts, p));
    OK(npy_csr_matrix(&a, &parts));
    assert_int_equal(a->rows, 4);
    assert_int_equal(a->cols, 3);
    assert_int_equal(a->nnz, 4);
    assert_memory_equal(a->start, start, sizeof start);
    assert_memory_equal(a->col, col, sizeof col);
    assert_memory_equal(a->val, val, sizeof val);
    csr_free(a);
}

static void check_graph(const struct pickle *p)
{
    static const int64_t expected[5][4] = {{1, 2, 2}, {0}, {0, 300, -1, 70000}, {3, 12345678901}};
    static const uint32_t count[5] = {3, 1, 4, 2, 0};
    const struct pickle_items *dict;
    OK(pickle_root_dict(&dict, p));
    assert_int_equal(dict->count, 10);
    for (uint32_t k = 0; k < 5; k++) {
        assert_int_equal(dict->item[2 * k].integer, k);
        assert_int_equal(dict->item[2 * k + 1].kind, PICKLE_LIST);
        const struct pickle_items *list = dict->item[2 * k + 1].items;
        assert_int_equal(list->count, count[k]);
        for (uint32_t i = 0; i < list->count; i++) {
            assert_int_equal(list->item[i].kind, PICKLE_INT);
            assert_int_equal(list->item[i].integer, expected[k][i]);
        }
    }
}

/* Big-endian, column order: [[1, 0], [0, 1], [0, 1]] */
static void check_array(const struct pickle *p)
{
    static const int32_t expected[] = {1, 0, 0, 1, 0, 1};
    struct npy a;
    int32_t value[6];
    OK(pickle_root_array(&a, p));
    OK(npy_expect(&a, 2, 3, 2));
    OK(npy_int32(value, &a, 0, 1));
    assert_memory_equal(value, expected, sizeof expected);
}

static void (*const check[])(const struct pickle *p) = {check_matrix, check_graph, check_array};
static const char *const fixture[] = {"csr", "graph", "array"};

static void every_protocol(void **state)
{
    (void)state;
    for (int f = 0; f < 3; f++)
        for (int protocol = 0; protocol < 6; protocol++) {
            struct file_map map;
            struct pickle *p;
            open_fixture(&map, fixture[f], protocol);
            OK(pickle_load(&p, map.data, map.size, "f"));
            check[f](p);
            pickle_free(p);
            file_unmap(&map);
        }
}

static consm_status load(const void *bytes, size_t size)
{
    struct pickle *p;
    consm_status st = pickle_load(&p, bytes, size, "f.pkl");
    pickle_free(p);
    return st;
}

static void every_truncation_fails(void **state)
{
    (void)state;
    for (int f = 0; f < 3; f++)
        for (int protocol = 0; protocol < 6; protocol++) {
            struct file_map map;
            open_fixture(&map, fixture[f], protocol);
            for (size_t size = 0; size < map.size; size++) {
                uint8_t *cut = malloc(size ? size : 1);
                memcpy(cut, map.data, size);
                assert_int_equal(load(cut, size), CONSM_EFORMAT);
                free(cut);
            }
            file_unmap(&map);
        }
}

static void every_changed_byte_is_survived(void **state)
{
    (void)state;
    static const uint8_t replacement[] = {0, 1, 'K', '(', 'R', 'b', 0x85, 0x94, 0xff, 'h', '.'};
    for (int f = 0; f < 3; f++)
        for (int protocol = 0; protocol < 6; protocol++) {
            struct file_map map;
            open_fixture(&map, fixture[f], protocol);
            uint8_t *copy = malloc(map.size);
            memcpy(copy, map.data, map.size);
            for (size_t at = 0; at < map.size; at++)
                for (size_t i = 0; i < sizeof replacement; i++) {
                    struct pickle *p;
                    struct npy_csr parts;
                    struct csr *a = NULL;
                    copy[at] = replacement[i];
                    if (pickle_load(&p, copy, map.size, "f") >= 0 &&
                        pickle_root_csr(&parts, p) >= 0)
                        npy_csr_matrix(&a, &parts);
                    csr_free(a);
                    pickle_free(p);
                    copy[at] = map.data[at];
                }
            free(copy);
            file_unmap(&map);
        }
}

/* The classic attack, in three protocols, and other foreign names. */
static void foreign_globals(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        const char *message;
    } bad[] = {
        {"cos\nsystem\n(S'echo pwned'\ntR.", "f.pkl: byte 0: global os.system is not allowed"},
        {"\x80\x02}cposix\nsystem\n", "byte 3: global posix.system is not allowed"},
        {"\x80\x04\x8c\x08"
         "builtins\x8c\x04"
         "eval\x93.",
         "byte 18: global builtins.eval is not allowed"},
        {"c__builtin__\ngetattr\n.", "__builtin__.getattr"},
        {"cscipy.sparse.csr\ncsr_matrix2\n.", "scipy.sparse.csr.csr_matrix2"},
        {"cnumpy.core.multiarray\nfromfile\n.", "numpy.core.multiarray.fromfile"},
        {"c\x01\n\xff\n.", "global ?.? is not allowed"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        FAILS(load(bad[i].bytes, strlen(bad[i].bytes)), CONSM_EFORMAT, bad[i].message);
}

#define BYTES(text) text, sizeof(text) - 1

static void refused_opcodes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } bad[] = {
        {BYTES("Pid\n."), "byte 0: opcode PERSID is not allowed"},
        {BYTES("NQ."), "byte 1: opcode BINPERSID"},
        {BYTES("(ios\nsystem\n."), "byte 1: opcode INST"},
        {BYTES("(No."), "byte 2: opcode OBJ"},
        {BYTES("\x82\x01."), "opcode EXT1"},
        {BYTES("\x83\x01\x01."), "opcode EXT2"},
        {BYTES("\x84\x01\x01\x01\x01."), "opcode EXT4"},
        {BYTES("\x8f."), "opcode EMPTY_SET"},
        {BYTES("\x90."), "opcode ADDITEMS"},
        {BYTES("\x91."), "opcode FROZENSET"},
        {BYTES("\x92."), "opcode NEWOBJ_EX"},
        {BYTES("\x97."), "opcode NEXT_BUFFER"},
        {BYTES("\x98."), "opcode READONLY_BUFFER"},
        {BYTES("\xfe."), "byte 0xfe is not a pickle opcode"},
        {BYTES("\x80\x06N."), "protocol 6: expected 0 to 5"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        FAILS(load(bad[i].bytes, bad[i].size), CONSM_EFORMAT, bad[i].message);
}

static void broken_machines(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } bad[] = {
        {BYTES(""), "the file is empty"},
        {BYTES("."), "0 values on the stack at the end"},
        {BYTES("NN."), "2 values on the stack"},
        {BYTES("(N."), "1 values on the stack at the end"},
        {BYTES("N.N"), "1 bytes follow"},
        {BYTES("N"), "the file ends here: expected a pickle that ends with STOP"},
        {BYTES("K"), "ends in the argument of BININT1"},
        {BYTES("I12"), "ends in the argument of INT"},
        {BYTES("t."), "no mark on the stack"},
        {BYTES("e."), "no mark on the stack"},
        {BYTES("\x86."), "0 values on the stack: expected 2"},
        {BYTES("K\x01(\x86."), "0 values on the stack: expected 2"},
        {BYTES("NNa."), "adding to None: expected a list"},
        {BYTES("]NNs."), "adding to a list: expected a dict"},
        {BYTES("}(Nu."), "a key without a value"},
        {BYTES("(Nd."), "a key without a value"},
        {BYTES("h\x05."), "memo entry 5 was never stored"},
        {BYTES("Nq\x03h\x02."), "memo entry 2 was never stored"},
        {BYTES("Nr\xff\xff\xff\x7f."), "memo index 2147483647 in a file of"},
        {BYTES("Np99999999999\n."), "a memo index of 11 digits"},
        {BYTES("Npx\n."), "a memo index that is not a number"},
        {BYTES("T\xff\xff\xff\x7fxx."), "BINSTRING of 2147483647 bytes"},
        {BYTES("\x8e\xff\xff\xff\xff\xff\xff\xff\x7fxx."), "BINBYTES8 of 9223372036854775807"},
        {BYTES("\x95\xff\xff\xff\xff\xff\xff\xff\x7fN."), "a frame of 9223372036854775807"},
        {BYTES("\x8a\x09"
               "123456789."),
         "an integer of 9 bytes"},
        {BYTES("I12x\n."), "found \"12x\": expected a whole number"},
        {BYTES("I\n."), "expected a whole number"},
        {BYTES("L99999999999999999999L\n."), "expected a whole number"},
        {BYTES("Fx\n."), "expected a number"},
        {BYTES("Sabc\n."), "a string without its quotes"},
        {BYTES("S'\\q'\n."), "an unknown escape"},
        {BYTES("S'\\x4'\n."), "an unknown escape"},
        {BYTES("V\\u12\n."), "an unknown escape"},
        {BYTES("NNR."), "a call of None"},
        {BYTES("NNb."), "a state for None"},
        {BYTES("KKKK\x93."), "a global whose names are an integer and an integer"},
        {BYTES("cnumpy\nndarray\n)R."), "a constructor with unexpected arguments"},
        {BYTES("cnumpy\nndarray\n)\x81."), "a new object of this class"},
        {BYTES("cnumpy\ndtype\n)R."), "numpy.dtype with unexpected arguments"},
        {BYTES("cnumpy\ndtype\n(S'O4'\nI0\nI1\ntR."), "type \"O4\""},
        {BYTES("ccollections\ndefaultdict\n(NtR."), "a defaultdict of other values"},
        {BYTES("cscipy.sparse.csr\ncsr_matrix\n)\x81Nb."), "built from None: expected a dict"},
        {BYTES("cscipy.sparse.csr\ncsr_matrix\n)\x81}S'data'\nNsb."), "with None as data"},
        {BYTES("cscipy.sparse.csr\ncsr_matrix\n)\x81}S'_shape'\nNsb."), "the shape of a csr"},
        {BYTES("c_codecs\nencode\n(X\x02\0\0\0\xd0\x80S'latin1'\ntR."), "not Latin-1"},
        {BYTES("c_codecs\nencode\n(X\x01\0\0\0xS'utf-7'\ntR."), "_codecs.encode with unexpected"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        FAILS(load(bad[i].bytes, bad[i].size), CONSM_EFORMAT, bad[i].message);
}

/* What a Python 2 array of four bytes needs, up to its shape. */
#define ARRAY_HEAD "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n"
#define ARRAY_TYPE "cnumpy\ndtype\n(S'i4'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\n"

static void arrays(void **state)
{
    (void)state;
    struct pickle *p;
    struct npy a;
    static const char good[] = ARRAY_HEAD "(I1\nt" ARRAY_TYPE "S'\\x01\\x00\\x00\\x00'\ntb.";
    OK(pickle_load(&p, (const uint8_t *)good, sizeof good - 1, "f"));
    OK(pickle_root_array(&a, p));
    int32_t value;
    OK(npy_int32(&value, &a, 0, 10));
    assert_int_equal(value, 1);
    pickle_free(p);
    FAILS(load(BYTES(ARRAY_HEAD "(I2\nt" ARRAY_TYPE "S'abcd'\ntb.")), CONSM_EFORMAT,
          "the 4 bytes of data");
    FAILS(load(BYTES(ARRAY_HEAD "(I1152921504606846976\nt" ARRAY_TYPE "S'abcd'\ntb.")),
          CONSM_EFORMAT, "1152921504606846976 x 1");
    FAILS(load(BYTES(ARRAY_HEAD "(I-1\nt" ARRAY_TYPE "S'abcd'\ntb.")), CONSM_EFORMAT, "-1 x 1");
    FAILS(load(BYTES(ARRAY_HEAD "(I1\nI1\nI1\nt" ARRAY_TYPE "S'abcd'\ntb.")), CONSM_EFORMAT,
          "3 dimensions");
    FAILS(load(BYTES(ARRAY_HEAD "(Nt" ARRAY_TYPE "S'abcd'\ntb.")), CONSM_EFORMAT, "with None");
    FAILS(load(BYTES(ARRAY_HEAD "tb.")), CONSM_EFORMAT, "an array with an unexpected state");
    /* An array that was never filled is invalid. */
    static const char empty[] = "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\nt"
                                "S'b'\ntR.";
    OK(pickle_load(&p, (const uint8_t *)empty, sizeof empty - 1, "f"));
    FAILS(pickle_root_array(&a, p), CONSM_EFORMAT, "expected a filled array");
    struct npy_csr parts;
    FAILS(pickle_root_csr(&parts, p), CONSM_EFORMAT, "f: contains an array: expected a csr_matrix");
    const struct pickle_items *dict;
    FAILS(pickle_root_dict(&dict, p), CONSM_EFORMAT, "contains an array: expected a dict");
    pickle_free(p);
}

/* A text of 64 kB, named once and copied with a handful of bytes each time. */
static void copies_are_limited(void **state)
{
    (void)state;
    static const char head[] = "c_codecs\nencode\nq\x01"
                               "0X\0\0\1\0";
    static const char call[] = "h\x01h\x02X\6\0\0\0latin1\x86R0";
    size_t text = 65536, calls = 2000, size = 0;
    char *bytes = malloc(sizeof head + text + 8 + calls * sizeof call);
    memcpy(bytes, head, sizeof head - 1);
    size = sizeof head - 1;
    memset(bytes + size, 'x', text);
    size += text;
    memcpy(bytes + size,
           "q\x02"
           "0",
           3);
    size += 3;
    for (size_t i = 0; i < calls; i++, size += sizeof call - 1)
        memcpy(bytes + size, call, sizeof call - 1);
    memcpy(bytes + size, "N.", 2);
    FAILS(load(bytes, size + 2), CONSM_ELIMIT, "too much for a file");
    free(bytes);
}

/* A list that holds itself is harmless, because it is never walked. */
static void cycles(void **state)
{
    (void)state;
    OK(load(BYTES("]q\x01h\x01"
                  "a.")));
    OK(load(BYTES("}q\x01K\x01h\x01s.")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_protocol),
        cmocka_unit_test(every_truncation_fails),
        cmocka_unit_test(every_changed_byte_is_survived),
        cmocka_unit_test(foreign_globals),
        cmocka_unit_test(refused_opcodes),
        cmocka_unit_test(broken_machines),
        cmocka_unit_test(arrays),
        cmocka_unit_test(copies_are_limited),
        cmocka_unit_test(cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
