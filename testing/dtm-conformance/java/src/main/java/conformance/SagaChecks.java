package conformance;

import static conformance.Bank.adjust;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import pub.dtm.client.exception.FailureException;
import pub.dtm.client.saga.Saga;

/**
 * The barrier of this client knows no null compensation for sagas. So the step that fails here is one of its own,
 * without a compensation. Its setRetryInterval and setBranchHeaders call themselves without end, so each repetition comes after
 * the default of 10 s, and headers are put into the map that it hands out.
 */
final class SagaChecks {
  private static final int AMOUNT = 30;
  private static final long MEETING_MILLIS = 2500;

  private SagaChecks() {}

  static List<Check> all() {
    return List.of(
        new Check("saga: wait, both steps succeed", SagaChecks::waits),
        new Check("saga: without wait, the answer comes before the branches", SagaChecks::doesNotWait),
        new Check("saga: wait, the last step fails", SagaChecks::failsWaited),
        new Check("saga: without wait, the last step fails", SagaChecks::fails),
        new Check("saga: an ongoing step is asked again", SagaChecks::ongoing),
        new Check("saga: an answer lost after the commit, the barrier filters the repetition", SagaChecks::lostAnswer),
        new Check("saga: submitted again after its end", SagaChecks::again),
        new Check("saga: the gid comes from the orchestrator", SagaChecks::newGid),
        new Check("saga: branch_headers reach the branch", SagaChecks::headers),
        new Check("concurrent saga: order, the last step waits for both others", SagaChecks::concurrent));
  }

  /** Moves the amount from a to b, behind barriers. */
  private static Saga transfer(Scenario s) throws Exception {
    s.bank.open(s.key + "a", s.key + "b");
    Saga saga = s.world.client.newSaga(s.gid);
    saga.add(
        s.on("out", s.bank.guarded(adjust(s.key + "a", -AMOUNT))),
        s.on("outBack", s.bank.guarded(adjust(s.key + "a", AMOUNT))),
        Map.of("amount", AMOUNT));
    saga.add(
        s.on("in", s.bank.guarded(adjust(s.key + "b", AMOUNT))),
        s.on("inBack", s.bank.guarded(adjust(s.key + "b", -AMOUNT))),
        Map.of("amount", AMOUNT));
    return saga;
  }

  private static void expectTransferred(Scenario s) throws Exception {
    s.untilStatus("succeed");
    s.expectBalances("a=970+0", "b=1030+0");
    s.expectBarrier("01:action:action", "02:action:action");
    s.expectBranches("01:compensate:prepared", "01:action:succeed", "02:compensate:prepared", "02:action:succeed");
  }

  private static void expectRolledBack(Scenario s) throws Exception {
    s.untilStatus("failed");
    s.expectOrder("out:01:action", "in:02:action", "last:03:action", "inBack:02:compensate", "outBack:01:compensate");
    s.expectBalances("a=1000+0", "b=1000+0");
    s.expectBarrier("01:action:action", "01:compensate:compensate", "02:action:action", "02:compensate:compensate");
  }

  private static void waits(Scenario s) throws Exception {
    Saga saga = transfer(s).enableWaitResult();
    Expect.equal("answer", saga.submit(), s.gid);
    s.expectOrder("out:01:action", "in:02:action");
    Expect.equal("body of the first call", s.calls.get(0).body(), "{\"amount\":30}");
    expectTransferred(s);
  }

  private static void doesNotWait(Scenario s) throws Exception {
    CountDownLatch answered = new CountDownLatch(1);
    Saga saga = transfer(s);
    Call.Handler out = s.handler("out");
    s.on(
        "out",
        call -> {
          Expect.equal("answered before", answered.await(MEETING_MILLIS, TimeUnit.MILLISECONDS), true);
          out.serve(call);
        });
    saga.submit();
    answered.countDown();
    expectTransferred(s);
    s.expectOrder("out:01:action", "in:02:action");
  }

  private static void failsWaited(Scenario s) throws Exception {
    Saga saga = transfer(s).add(s.on("last", Scenario::fail), "", Map.of()).enableWaitResult();
    Expect.thrown(FailureException.class, saga::submit);
    expectRolledBack(s);
  }

  private static void fails(Scenario s) throws Exception {
    transfer(s).add(s.on("last", Scenario::fail), "", Map.of()).submit();
    expectRolledBack(s);
  }

  private static void ongoing(Scenario s) throws Exception {
    Saga saga = transfer(s);
    s.on("in", Scenario.first(1, new Call.Ongoing(), s.handler("in")));
    saga.submit();
    expectTransferred(s);
    s.expectOrder("out:01:action", "in:02:action", "in:02:action");
  }

  private static void lostAnswer(Scenario s) throws Exception {
    Saga saga = transfer(s);
    s.loseFirstAnswer("out");
    saga.submit();
    expectTransferred(s);
    s.expectOrder("out:01:action", "out:01:action", "in:02:action");
  }

  private static void again(Scenario s) throws Exception {
    Saga saga = transfer(s).enableWaitResult();
    saga.submit();
    Expect.thrown(FailureException.class, saga::submit);
    expectTransferred(s);
  }

  private static void newGid(Scenario s) throws Exception {
    Saga saga = s.world.client.newSaga().add(s.on("one", Scenario::succeed), "", Map.of()).enableWaitResult();
    String gid = saga.submit();
    Expect.equal("gid of the call", s.calls.get(0).query().get("gid"), gid);
    Expect.equal("stored", s.world.query(gid).path("transaction").path("status").asText(), "succeed");
  }

  private static void headers(Scenario s) throws Exception {
    Saga saga = s.world.client.newSaga(s.gid).add(s.on("one", Scenario::succeed), "", Map.of());
    saga.getBranchHeaders().put("X-Tenant", "t1");
    saga.enableWaitResult().submit();
    Expect.equal("X-Tenant", s.calls.get(0).headers().get("X-Tenant"), "t1");
  }

  private static void concurrent(Scenario s) throws Exception {
    CyclicBarrier meeting = new CyclicBarrier(2);
    Call.Handler together = call -> meeting.await(MEETING_MILLIS, TimeUnit.MILLISECONDS);
    Saga saga = s.world.client.newSaga(s.gid);
    saga.add(s.on("one", together), "", Map.of());
    saga.add(s.on("two", together), "", Map.of());
    saga.add(s.on("three", Scenario::succeed), "", Map.of());
    saga.enableConcurrent().addBranchOrder(2, List.of(0, 1)).enableWaitResult().submit();
    s.untilStatus("succeed");
    Expect.equal("calls", s.order().size(), 3);
    Expect.equal("last call", s.order().get(2), "three:03:action");
  }
}
