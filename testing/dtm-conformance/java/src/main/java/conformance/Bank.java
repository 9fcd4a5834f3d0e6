package conformance;

import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import pub.dtm.client.barrier.BranchBarrier;

/** Accounts in MySQL, changed behind the client's barrier. */
final class Bank {
  static final int START_BALANCE = 1000;

  /** This client writes its barrier rows into a table of this name in the connection's own database. */
  private static final String BARRIER_TABLE =
      """
      create table if not exists barrier (
        id bigint primary key auto_increment,
        trans_type varchar(45) default '', gid varchar(128) default '', branch_id varchar(128) default '',
        op varchar(45) default '', barrier_id varchar(45) default '', reason varchar(45) default '',
        create_time datetime default now(), update_time datetime default now(),
        key (create_time), key (update_time), unique key (gid, branch_id, op, barrier_id)
      ) engine = InnoDB default charset = utf8mb4
      """;

  private static final String ACCOUNT_TABLE =
      """
      create table if not exists account (
        name varchar(128) primary key, balance int not null, frozen int not null default 0
      ) engine = InnoDB default charset = utf8mb4
      """;

  private final String url;
  private final String user;
  private final String password;

  Bank(URI mysql) throws SQLException {
    String[] login = (mysql.getUserInfo() == null ? "root" : mysql.getUserInfo()).split(":", 2);
    user = login[0];
    password = login.length == 2 ? login[1] : "";
    String server = "jdbc:mariadb://" + mysql.getHost() + ":" + mysql.getPort() + "/";
    try (Connection connection = DriverManager.getConnection(server, user, password);
        Statement statement = connection.createStatement()) {
      statement.execute("create database if not exists conformance_java");
    }
    url = server + "conformance_java";
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(BARRIER_TABLE);
      statement.execute(ACCOUNT_TABLE);
    }
  }

  interface Change {
    void apply(Connection connection) throws Exception;
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(url, user, password);
  }

  Call.Handler guarded(Change change) {
    return call -> {
      Map<String, String[]> parameters = new HashMap<>();
      call.query().forEach((name, value) -> parameters.put(name, new String[] {value}));
      try (Connection connection = connect()) {
        new BranchBarrier(parameters).call(connection, barrier -> change.apply(connection));
      }
    };
  }

  void open(String... accounts) throws SQLException {
    for (String account : accounts) {
      try (Connection connection = connect()) {
        execute(connection, "insert into account (balance, name) values (?, ?)", START_BALANCE, account);
      }
    }
  }

  /** A balance below zero is a failure. */
  static Change adjust(String account, int amount) {
    return connection ->
        changeOne(
            connection,
            "update account set balance = balance + ? where name = ? and balance + ? >= 0",
            amount,
            account,
            amount);
  }

  static Change freeze(String account, int amount) {
    return connection ->
        changeOne(
            connection,
            "update account set frozen = frozen + ? where name = ? and balance + frozen + ? >= 0",
            amount,
            account,
            amount);
  }

  static Change settle(String account, int amount) {
    return connection ->
        changeOne(
            connection,
            "update account set balance = balance + ?, frozen = frozen - ? where name = ?",
            amount,
            amount,
            account);
  }

  private static void changeOne(Connection connection, String sql, Object... values) throws Exception {
    if (execute(connection, sql, values) == 0) {
      throw new Call.Failure("the balance does not allow it");
    }
  }

  private static int execute(Connection connection, String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int index = 0; index < values.length; index++) {
        statement.setObject(index + 1, values[index]);
      }
      return statement.executeUpdate();
    }
  }

  /** As `name=balance+frozen`. */
  List<String> balances(String key) throws SQLException {
    return rows(
        "select concat(substring(name, " + (key.length() + 1) + "), '=', balance, '+', frozen) from account"
            + " where name like ? order by name",
        key + "%");
  }

  /** As `branch_id:op:reason`, sorted by branch and op. */
  List<String> barrierRows(String gid) throws SQLException {
    return rows(
        "select concat(branch_id, ':', op, ':', reason) from barrier where gid = ? order by branch_id, op", gid);
  }

  private List<String> rows(String sql, String value) throws SQLException {
    try (Connection connection = connect();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, value);
      List<String> rows = new ArrayList<>();
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          rows.add(found.getString(1));
        }
      }
      return rows;
    }
  }
}
