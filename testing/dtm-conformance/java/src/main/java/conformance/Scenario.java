package conformance;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A check's own part of the world: a gid, branch URLs, accounts, and the log of the branches' calls. */
final class Scenario {
  final World world;
  final Bank bank;
  final String key = "c" + UUID.randomUUID().toString().replace("-", "").substring(0, 12);
  final String gid = "java-" + key;
  final List<Call> calls = new CopyOnWriteArrayList<>();
  private final Map<String, Call.Handler> handlers = new ConcurrentHashMap<>();

  Scenario(World world) {
    this.world = world;
    this.bank = world.bank;
    world.service.add(key, this);
  }

  /** Sets what a branch does and returns its URL. */
  String on(String path, Call.Handler handler) {
    handlers.put(path, handler);
    return world.service.url() + "/" + key + "/" + path;
  }

  Call.Handler handler(String path) {
    return handlers.get(path);
  }

  void serve(Call call) throws Exception {
    calls.add(call);
    handlers.get(call.path()).serve(call);
  }

  long count(String path) {
    return calls.stream().filter(call -> call.path().equals(path)).count();
  }

  List<String> order() {
    return calls.stream()
        .map(call -> call.path() + ":" + call.query().get("branch_id") + ":" + call.query().get("op"))
        .toList();
  }

  void expectOrder(String... wanted) {
    Expect.equal("calls", order(), List.of(wanted));
  }

  void untilStatus(String wanted) throws Exception {
    Expect.eventually(
        () -> Expect.equal("status", world.query(gid).path("transaction").path("status").asText(), wanted));
  }

  /** As `branch_id:op:status`; the rows may be written after the transaction's status. */
  void expectBranches(String... wanted) throws Exception {
    Expect.eventually(
        () -> {
          List<String> rows = new ArrayList<>();
          for (JsonNode row : world.query(gid).path("branches")) {
            rows.add(row.path("branch_id").asText() + ":" + row.path("op").asText() + ":" + row.path("status").asText());
          }
          Expect.equal("branches", rows, List.of(wanted));
        });
  }

  void expectBalances(String... wanted) throws Exception {
    Expect.equal("balances", bank.balances(key), List.of(wanted));
  }

  void expectBarrier(String... wanted) throws Exception {
    Expect.equal("barrier rows", bank.barrierRows(gid), List.of(wanted));
  }

  static void succeed(Call call) {}

  static void fail(Call call) throws Call.Failure {
    throw new Call.Failure("no");
  }

  /** Throws for the first calls of a branch, then does what follows. */
  static Call.Handler first(int times, Exception problem, Call.Handler then) {
    AtomicInteger left = new AtomicInteger(times);
    return call -> {
      if (left.getAndDecrement() > 0) {
        throw problem;
      }
      then.serve(call);
    };
  }

  /** The branch does its work, but the answer to its first call is lost. */
  void loseFirstAnswer(String path) {
    Call.Handler work = handlers.get(path);
    on(
        path,
        call -> {
          work.serve(call);
          if (count(path) == 1) {
            throw new Call.Broken("after the commit");
          }
        });
  }
}
