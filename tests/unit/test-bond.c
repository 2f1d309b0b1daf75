/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "ovs-rcu.h"
#include "pmd/bond.h"
#include "unit.h"
#include "util.h"

/* Fills 'members' with ports 'base', 'base' + 1, ... in turn, 'n' of them. */
static void
make_members(odp_port_t members[BOND_BUCKETS], uint32_t base, uint32_t n)
{
    for (uint32_t i = 0; i < BOND_BUCKETS; i++) {
        members[i] = u32_to_odp(base + i % n);
    }
}

static void
check_members(const struct dp_bond *bond, uint32_t base, uint32_t n)
{
    for (uint32_t i = 0; i < BOND_BUCKETS; i++) {
        CHECK_UINT(odp_to_u32(bond->buckets[i].member), ==, base + i % n);
    }
}

static unsigned long long
packets_of(struct dp_bond *bond, size_t i)
{
    unsigned long long n;

    atomic_read_relaxed(&bond->buckets[i].packets, &n);
    return n;
}

static unsigned long long
bytes_of(struct dp_bond *bond, size_t i)
{
    unsigned long long n;

    atomic_read_relaxed(&bond->buckets[i].bytes, &n);
    return n;
}

static void
test_put_find_remove(void)
{
    odp_port_t members[BOND_BUCKETS];
    struct dp_bonds bonds;

    dp_bonds_init(&bonds);
    CHECK(!dp_bonds_find(&bonds, 5));
    CHECK(!dp_bonds_remove(&bonds, 5));

    make_members(members, 10, 2);
    dp_bonds_put(&bonds, 5, members, true);
    dp_bonds_put(&bonds, 6, members, false);
    CHECK_UINT(dp_bonds_find(&bonds, 5)->id, ==, 5);
    check_members(dp_bonds_find(&bonds, 5), 10, 2);

    /* Not replaced unless that is wanted. */
    make_members(members, 20, 3);
    dp_bonds_put(&bonds, 5, members, false);
    check_members(dp_bonds_find(&bonds, 5), 10, 2);
    dp_bonds_put(&bonds, 5, members, true);
    check_members(dp_bonds_find(&bonds, 5), 20, 3);
    check_members(dp_bonds_find(&bonds, 6), 10, 2);

    CHECK(dp_bonds_remove(&bonds, 5));
    CHECK(!dp_bonds_find(&bonds, 5));
    CHECK(dp_bonds_find(&bonds, 6) != NULL);

    dp_bonds_clear(&bonds);
    CHECK(!dp_bonds_find(&bonds, 6));
    CHECK_UINT(cmap_count(&bonds.map), ==, 0);
    dp_bonds_destroy(&bonds);
}

/* Counters stay with their bucket when members change, and only then. */
static void
test_counters(void)
{
    odp_port_t members[BOND_BUCKETS];
    struct dp_bonds bonds;
    struct dp_bond *bond;

    dp_bonds_init(&bonds);
    make_members(members, 1, 4);
    dp_bonds_put(&bonds, 1, members, true);
    bond = dp_bonds_find(&bonds, 1);
    dp_bond_bucket_account(&bond->buckets[3], 100);
    dp_bond_bucket_account(&bond->buckets[3], 50);
    dp_bond_bucket_account(&bond->buckets[BOND_MASK], 7);

    make_members(members, 9, 1);
    dp_bonds_put(&bonds, 1, members, true);
    bond = dp_bonds_find(&bonds, 1);
    check_members(bond, 9, 1);
    CHECK_UINT(packets_of(bond, 3), ==, 2);
    CHECK_UINT(bytes_of(bond, 3), ==, 150);
    CHECK_UINT(bytes_of(bond, BOND_MASK), ==, 7);
    CHECK_UINT(packets_of(bond, 0), ==, 0);

    CHECK(dp_bonds_remove(&bonds, 1));
    dp_bonds_put(&bonds, 1, members, true);
    CHECK_UINT(packets_of(dp_bonds_find(&bonds, 1), 3), ==, 0);
    dp_bonds_destroy(&bonds);
}

static void
test_copy_missing(void)
{
    odp_port_t members[BOND_BUCKETS];
    struct dp_bonds src, dst;

    dp_bonds_init(&src);
    dp_bonds_init(&dst);
    make_members(members, 1, 2);
    dp_bonds_put(&src, 1, members, true);
    dp_bonds_put(&src, 2, members, true);
    dp_bond_bucket_account(&dp_bonds_find(&src, 2)->buckets[0], 64);
    make_members(members, 30, 5);
    dp_bonds_put(&dst, 1, members, true);

    dp_bonds_copy_missing(&dst, &src);
    CHECK_UINT(cmap_count(&dst.map), ==, 2);
    check_members(dp_bonds_find(&dst, 1), 30, 5);
    check_members(dp_bonds_find(&dst, 2), 1, 2);
    /* A copy counts for itself. */
    CHECK_UINT(packets_of(dp_bonds_find(&dst, 2), 0), ==, 0);

    /* Copies do not depend on the original. */
    dp_bonds_destroy(&src);
    check_members(dp_bonds_find(&dst, 2), 1, 2);
    dp_bonds_destroy(&dst);
}

int
main(int argc OVS_UNUSED, char *argv[])
{
    set_program_name(argv[0]);
    RUN_TEST(test_put_find_remove);
    RUN_TEST(test_counters);
    RUN_TEST(test_copy_missing);
    return 0;
}
