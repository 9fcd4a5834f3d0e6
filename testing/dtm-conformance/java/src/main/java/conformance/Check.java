package conformance;

/** One line of the report. */
record Check(String name, Body body) {

  interface Body {
    void run(Scenario scenario) throws Exception;
  }
}
