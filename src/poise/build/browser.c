/* What a page needs beside poise.h: a deadline that JavaScript knows. */

#include "poise.h"

__attribute__((import_module("poise"), import_name("late"))) int late(void);

static int stopped(void *unused) {
  (void)unused;
  return late();
}

PZ_API pz_status pz_solve_until(pz_work *work, const double *targets, const double *q0, double *q, pz_report *report) {
  return pz_solve(work, targets, q0, q, report, stopped, 0);
}
