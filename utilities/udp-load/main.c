/* SPDX-License-Identifier: Apache-2.0 */

#include <stdlib.h>

#include "run.h"

int
main(int argc, char *argv[])
{
    static struct run run;

    options_parse(&run.options, argc, argv);
    run_init(&run);
    if (!run.options.source) {
        return sink_run(&run);
    }
    source_run(&run);
    return EXIT_SUCCESS;
}
