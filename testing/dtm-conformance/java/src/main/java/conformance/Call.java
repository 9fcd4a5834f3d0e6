package conformance;

import java.util.Map;

/** One request that a branch received. */
record Call(String path, Map<String, String> query, Map<String, String> headers, String body) {

  interface Handler {
    void serve(Call call) throws Exception;
  }

  /** The business says no: answered with 409. */
  static final class Failure extends Exception {
    Failure(String message) {
      super(message);
    }
  }

  /** Not yet: answered with 425. */
  static final class Ongoing extends Exception {}

  /** Answered with 500. */
  static final class Broken extends Exception {
    Broken(String message) {
      super(message);
    }
  }
}
