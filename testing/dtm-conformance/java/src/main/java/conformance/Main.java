package conformance;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/** Drives an orchestrator with io.github.dtm-labs:dtmcli-java, unchanged. */
final class Main {
  private Main() {}

  public static void main(String[] arguments) throws Exception {
    String dtm = option(arguments, "--dtm", "DTM_URL");
    String mysql = option(arguments, "--mysql", "TEST_MYSQL_URL");
    List<Check> checks = new ArrayList<>(SagaChecks.all());
    checks.addAll(TccChecks.all());
    System.exit(new Tally().run(new World(URI.create(dtm), URI.create(mysql)), checks));
  }

  private static String option(String[] arguments, String name, String variable) {
    for (int index = 0; index + 1 < arguments.length; index++) {
      if (arguments[index].equals(name)) {
        return arguments[index + 1];
      }
    }
    String value = System.getenv(variable);
    if (value == null) {
      System.out.println("not ok start: " + name + " or " + variable + " is needed");
      System.exit(1);
    }
    return value;
  }
}
