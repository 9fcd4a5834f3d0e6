package conformance;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Runs the checks beside each other, prints a line for each and the tally at the end. */
final class Tally {
  private static final int CHECKS_AT_ONCE = 8;
  private static final long RUN_MAX_SECONDS = 300;

  private int passed;
  private int failed;

  int run(World world, List<Check> checks) throws InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(CHECKS_AT_ONCE);
    for (Check check : checks) {
      pool.execute(() -> run(world, check));
    }
    pool.shutdown();
    if (!pool.awaitTermination(RUN_MAX_SECONDS, TimeUnit.SECONDS)) {
      report("not ok end of the run: not within " + RUN_MAX_SECONDS + " s", false);
    }
    synchronized (this) {
      System.out.println(passed + " passed, " + failed + " failed");
      return failed > 0 || passed != checks.size() ? 1 : 0;
    }
  }

  private void run(World world, Check check) {
    try {
      check.body().run(world.newScenario());
      report("ok " + check.name(), true);
    } catch (Throwable problem) {
      // A stack overflow inside the client is this check's line too.
      problem.printStackTrace();
      report("not ok " + check.name() + ": " + problem, false);
    }
  }

  private synchronized void report(String line, boolean good) {
    System.out.println(line.replace('\n', ' '));
    if (good) {
      passed++;
    } else {
      failed++;
    }
  }
}
