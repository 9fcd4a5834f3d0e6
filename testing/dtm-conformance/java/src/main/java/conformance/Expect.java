package conformance;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

final class Expect {
  /** Everything that is waited for ends within this bound, or the check fails. */
  static final Duration WAIT_MAX = Duration.ofSeconds(40);

  private static final long POLL_MILLIS = 30;

  private Expect() {}

  interface Condition {
    void hold() throws Exception;
  }

  static void equal(String what, Object got, Object wanted) {
    if (!Objects.equals(got, wanted)) {
      throw new AssertionError(what + ": got " + got + ", wanted " + wanted);
    }
  }

  static void thrown(Class<? extends Exception> kind, Condition run) {
    try {
      run.hold();
    } catch (Exception problem) {
      if (kind.isInstance(problem)) {
        return;
      }
      throw new AssertionError("thrown: got " + problem + ", wanted " + kind.getSimpleName(), problem);
    }
    throw new AssertionError("nothing was thrown, wanted " + kind.getSimpleName());
  }

  /** Polls until the condition holds, and fails with its last reason at the bound. */
  static void eventually(Condition condition) throws Exception {
    Instant deadline = Instant.now().plus(WAIT_MAX);
    while (true) {
      try {
        condition.hold();
        return;
      } catch (AssertionError reason) {
        if (Instant.now().isAfter(deadline)) {
          throw new AssertionError("not within " + WAIT_MAX.toSeconds() + " s: " + reason.getMessage(), reason);
        }
      }
      Thread.sleep(POLL_MILLIS);
    }
  }
}
