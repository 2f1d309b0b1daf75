/* SPDX-License-Identifier: Apache-2.0 */

/* Configuration values: switches, numbers, and the lists of sleep times and of
 * rx queue affinity. */

#include <config.h>
#undef NDEBUG

#include "dp/config-value.h"

#include <errno.h>

#include "openvswitch/dynamic-string.h"
#include "openvswitch/vlog.h"
#include "ovs-numa.h"
#include "smap.h"
#include "unit.h"
#include "util.h"

static bool
read_bool(const char *value, bool def, bool current)
{
    struct smap config;
    bool result;

    smap_init(&config);
    if (value) {
        smap_add(&config, "key", value);
    }
    result = config_bool(&config, NULL, "key", def, current);
    smap_destroy(&config);
    return result;
}

static void
test_bool(void)
{
    static const struct {
        const char *value;
        bool def, current, expected;
    } cases[] = {
        { NULL, true, false, true },
        { NULL, false, true, false },
        { "true", false, false, true },
        { "TRUE", false, false, true },
        { "false", true, true, false },
        { "False", true, true, false },
        { "yes", false, true, true },
        { "yes", true, false, false },
        { "", true, false, false },
        { "1", false, true, true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CHECK_INT(read_bool(cases[i].value, cases[i].def, cases[i].current),
                  ==, cases[i].expected);
    }
}

static uint64_t
read_number(const char *value)
{
    struct smap config;
    uint64_t result;

    smap_init(&config);
    if (value) {
        smap_add(&config, "key", value);
    }
    result = config_number(&config, "key", 7, 100, 55, VLL_INFO);
    smap_destroy(&config);
    return result;
}

static void
test_size(void)
{
    static const char *const bad[] = {
        "8", "24", "2048", "-16", "+16", "", " 16", "16 ", "0x10", "16k", "x",
        "18446744073709551632", "4294967312"
    };
    uint32_t size;

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        size = 7;
        CHECK_MSG(!config_size_parse(bad[i], 16, 1024, &size),
                  "'%s' is accepted", bad[i]);
        CHECK_UINT(size, ==, 7);
    }
    CHECK(config_size_parse("0", 16, 1024, &size));
    CHECK_UINT(size, ==, 0);
    CHECK(config_size_parse("16", 16, 1024, &size));
    CHECK_UINT(size, ==, 16);
    CHECK(config_size_parse("1024", 16, 1024, &size));
    CHECK_UINT(size, ==, 1024);
}

static void
test_number(void)
{
    static const char *const bad[] = {
        "101", "-1", "+1", "", " 1", "1 ", "1x", "0x10", "x",
        "99999999999999999999999", "18446744073709551617", "1.5"
    };

    CHECK_UINT(read_number(NULL), ==, 7);
    CHECK_UINT(read_number("0"), ==, 0);
    CHECK_UINT(read_number("1"), ==, 1);
    CHECK_UINT(read_number("100"), ==, 100);
    CHECK_UINT(read_number("010"), ==, 10);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        CHECK_MSG(read_number(bad[i]) == 55, "'%s'", bad[i]);
    }
}

/* Shows 'string' as "default core:us core:us ... (number of bad ones)". */
static void
check_sleep(const char *string, const char *expected)
{
    struct ds out = DS_EMPTY_INITIALIZER;
    struct sleep_list list;
    size_t n_bad = sleep_list_parse(&list, string);

    ds_put_format(&out, "%"PRIu64, list.default_us);
    for (size_t i = 0; i < list.n_cores; i++) {
        unsigned core_id = list.cores[i].core_id;

        CHECK_UINT(sleep_list_get(&list, core_id), ==, list.cores[i].us);
        ds_put_format(&out, " %u:%"PRIu64, core_id, list.cores[i].us);
    }
    CHECK_UINT(sleep_list_get(&list, 4000), ==, list.default_us);
    ds_put_format(&out, " (%"PRIuSIZE")", n_bad);
    CHECK_STR(ds_cstr(&out), expected);
    ds_destroy(&out);
    sleep_list_destroy(&list);
}

static void
test_sleep_list(void)
{
    static const struct {
        const char *string, *expected;
    } cases[] = {
        { NULL, "0 (0)" },
        { "", "0 (0)" },
        { "0", "0 (0)" },
        { "1", "1 (0)" },
        { "10000", "10000 (0)" },
        { "10001", "10000 (0)" },
        { "3:300,0:100,5:400", "0 3:300 0:100 5:400 (0)" },
        { "50,3:300,0:100", "50 3:300 0:100 (0)" },
        { "3:400,200", "200 3:400 (0)" },
        { " 3:400 , 200 ", "200 3:400 (0)" },
        { "2:99999", "0 2:10000 (0)" },
        { "2:0,7", "7 2:0 (0)" },

        /* The last one counts. */
        { "1,2,3", "3 (0)" },
        { "3:1,4:2,3:5", "0 3:5 4:2 (0)" },

        /* What makes no sense is left out. */
        { "qwe", "0 (1)" },
        { "50,1:qwe,2:0", "50 2:0 (1)" },
        { "x:1,y,5:z,9", "9 (3)" },
        { "-1", "0 (1)" },
        { "-1:5", "0 (1)" },
        { "1:-5", "0 (1)" },
        { "4294967295:5", "0 (1)" },
        { "99999999999999999999", "0 (1)" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        check_sleep(cases[i].string, cases[i].expected);
    }
}

/* 'expected' shows the cores of four queues, or is null for an error. */
static void
check_affinity(const char *string, const char *expected)
{
    struct ds out = DS_EMPTY_INITIALIZER;
    unsigned cores[4];
    int error = rxq_affinity_parse(string, cores, ARRAY_SIZE(cores));

    CHECK_MSG(error == (expected ? 0 : EINVAL), "'%s'", string);
    if (expected) {
        for (size_t i = 0; i < ARRAY_SIZE(cores); i++) {
            ds_put_cstr(&out, i ? " " : "");
            if (cores[i] == OVS_CORE_UNSPEC) {
                ds_put_char(&out, '-');
            } else {
                ds_put_format(&out, "%u", cores[i]);
            }
        }
        CHECK_STR(ds_cstr(&out), expected);
    }
    ds_destroy(&out);
}

static void
test_rxq_affinity(void)
{
    static const struct {
        const char *string, *expected;
    } cases[] = {
        { NULL, "- - - -" },
        { "", "- - - -" },
        { "0:3,1:7,2:2,3:8", "3 7 2 8" },
        { "2:0", "- - 0 -" },
        { "1:5 , 0:6", "6 5 - -" },
        { "0:1,0:2", "2 - - -" },
        { "3:1,4:2,17:3", "- - - 1" },
        { "0", NULL },
        { "0:", NULL },
        { ":1", NULL },
        { "a:1", NULL },
        { "0:b", NULL },
        { "-1:1", NULL },
        { "0:-1", NULL },
        { "0:1,2", NULL },
        { "0:1:2", NULL },
        { "0:99999999999", NULL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        check_affinity(cases[i].string, cases[i].expected);
    }
    CHECK_INT(rxq_affinity_parse("0:1", NULL, 0), ==, 0);
}

int
main(void)
{
    /* Bad values are what is tested here, and stderr is for failures. */
    vlog_set_levels(NULL, VLF_ANY_DESTINATION, VLL_OFF);

    RUN_TEST(test_bool);
    RUN_TEST(test_size);
    RUN_TEST(test_number);
    RUN_TEST(test_sleep_list);
    RUN_TEST(test_rxq_affinity);
    return 0;
}
