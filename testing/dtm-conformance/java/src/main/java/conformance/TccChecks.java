package conformance;

import static conformance.Bank.freeze;
import static conformance.Bank.settle;

import java.util.List;
import java.util.Map;
import pub.dtm.client.exception.FailureException;
import pub.dtm.client.tcc.Tcc;

final class TccChecks {
  private static final int AMOUNT = 30;

  private TccChecks() {}

  static List<Check> all() {
    return List.of(
        new Check("tcc: two branches are confirmed, newest first", TccChecks::confirms),
        new Check("tcc: a try fails, all are cancelled, newest first", TccChecks::tryFails),
        new Check("tcc: the program's own error cancels", TccChecks::ownError),
        new Check("tcc: a confirm's lost answer, the barrier filters the repetition", TccChecks::lostAnswer),
        new Check("tcc: the gid comes from the orchestrator", TccChecks::newGid));
  }

  private static void branch(Scenario s, Tcc tcc, String name, int amount) throws Exception {
    String account = s.key + name;
    tcc.callBranch(
        Map.of("amount", amount),
        s.on("try" + name, s.bank.guarded(freeze(account, amount))),
        s.on("confirm" + name, s.bank.guarded(settle(account, amount))),
        s.on("cancel" + name, s.bank.guarded(freeze(account, -amount))));
  }

  private static void expectConfirmed(Scenario s) throws Exception {
    s.untilStatus("succeed");
    s.expectBalances("a=970+0", "b=1030+0");
    s.expectBarrier("01:confirm:confirm", "01:try:try", "02:confirm:confirm", "02:try:try");
    s.expectBranches("01:cancel:prepared", "01:confirm:succeed", "02:cancel:prepared", "02:confirm:succeed");
  }

  private static void confirms(Scenario s) throws Exception {
    s.bank.open(s.key + "a", s.key + "b");
    s.world.client.tccGlobalTransaction(
        s.gid,
        tcc -> {
          branch(s, tcc, "a", -AMOUNT);
          branch(s, tcc, "b", AMOUNT);
        });
    expectConfirmed(s);
    s.expectOrder("trya:01:try", "tryb:02:try", "confirmb:02:confirm", "confirma:01:confirm");
    Expect.equal("body of a confirm", s.calls.get(2).body(), "{\"amount\":30}");
  }

  private static void tryFails(Scenario s) throws Exception {
    s.bank.open(s.key + "a", s.key + "b");
    Expect.thrown(
        FailureException.class,
        () ->
            s.world.client.tccGlobalTransaction(
                s.gid,
                tcc -> {
                  branch(s, tcc, "a", -AMOUNT);
                  branch(s, tcc, "b", -2 * Bank.START_BALANCE);
                }));
    s.untilStatus("failed");
    s.expectOrder("trya:01:try", "tryb:02:try", "cancelb:02:cancel", "cancela:01:cancel");
    s.expectBalances("a=1000+0", "b=1000+0");
    s.expectBarrier("01:cancel:cancel", "01:try:try", "02:cancel:cancel", "02:try:cancel");
  }

  private static void ownError(Scenario s) throws Exception {
    s.bank.open(s.key + "a");
    Expect.thrown(
        FailureException.class,
        () ->
            s.world.client.tccGlobalTransaction(
                s.gid,
                tcc -> {
                  branch(s, tcc, "a", -AMOUNT);
                  throw new IllegalStateException("the program's own");
                }));
    s.untilStatus("failed");
    s.expectOrder("trya:01:try", "cancela:01:cancel");
    s.expectBalances("a=1000+0");
  }

  private static void lostAnswer(Scenario s) throws Exception {
    s.bank.open(s.key + "a", s.key + "b");
    s.world.client.tccGlobalTransaction(
        s.gid,
        tcc -> {
          branch(s, tcc, "a", -AMOUNT);
          branch(s, tcc, "b", AMOUNT);
          s.loseFirstAnswer("confirmb");
        });
    expectConfirmed(s);
    s.expectOrder(
        "trya:01:try", "tryb:02:try", "confirmb:02:confirm", "confirmb:02:confirm", "confirma:01:confirm");
  }

  private static void newGid(Scenario s) throws Exception {
    s.bank.open(s.key + "a");
    String gid = s.world.client.tccGlobalTransaction(tcc -> branch(s, tcc, "a", AMOUNT));
    Expect.equal("gid of the try", s.calls.get(0).query().get("gid"), gid);
    Expect.eventually(
        () -> Expect.equal("status", s.world.query(gid).path("transaction").path("status").asText(), "succeed"));
    s.expectBalances("a=1030+0");
  }
}
