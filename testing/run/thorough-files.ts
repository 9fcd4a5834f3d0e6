/**
 * The files that `npm test` leaves to `npm run test:all`: each takes long on two cores, or needs something that a
 * newcomer's machine may not have. The files that stay prove the same more shortly: the simulator, the unit tests and
 * SQLite from end to end.
 */
export const THOROUGH_FILES: readonly string[] = [
  'bench/test/**/*.test.ts',
  // The jobs on SQLite are among the files below.
  'testing/browser/!(job-developer|job-operator).test.ts',
  // These crash points, of writes beside the status, are also in `npm test`.
  'testing/chaos/test/**/!(crash-points-of-stages).test.ts',
  'testing/dtm-conformance/src/**/*.test.ts',
  'infra/!(aws)/test/*.test.ts',
  'infra/aws/test/cfn-lint.test.ts',
  'packages/cli/test/keys.e2e.test.ts',
  'packages/dtm/test/golden/golden.test.ts',
  'packages/fastify-plugin/test/http-api.test.ts',
  'testing/lambda-emulator/test/**/*.test.ts',
  'testing/store-conformance/test/**/*.test.ts',
  'packages/store-sqlite/test/processes.test.ts',
  'packages/store-sqlite/test/reader.test.ts',
  'testing/test-servers/src/**/*.test.ts',
  'sdk/test/grouped/sqlite-groups.test.ts',
  'sdk/test/testing/given-wrongly.test.ts',
  'sdk/test/testing/slowness.test.ts',
  'sdk/test/testing/wrong-services.test.ts',
  'sdk/test/user-drivers/better-sqlite3.test.ts',
  'testing/repository/check-by-tools.test.ts',
  'testing/repository/compose-file.test.ts',
  'testing/system/e2e/canary.test.ts',
  'testing/system/e2e/clone-without-compiler.test.ts',
  'testing/system/e2e/defects.test.ts',
  'testing/system/e2e/deployed-settings.test.ts',
  'testing/system/e2e/install-without-compiler.test.ts',
  'testing/system/e2e/packed-packages.test.ts',
  'testing/system/e2e/packed-projects.test.ts',
  'testing/system/e2e/packed-sdk-types.test.ts',
  'testing/system/e2e/packed-sdk.test.ts',
  'testing/system/e2e/prometheus.test.ts',
  'testing/system/e2e/signing-rotation.test.ts',
  'testing/system/e2e/tls-proxies.test.ts',
  'testing/system/e2e/traces/traces.test.ts',
  'testing/system/security/readers.test.ts',
]

/**
 * The short files with a browser that `npm test` runs where it finds one. `npm run test:all` installs one, and runs them again, so
 * that they have run on a machine that was new.
 */
export const QUICK_BROWSER_FILES: readonly string[] = [
  'packages/console/test/screens.test.ts',
  'testing/browser/job-developer.test.ts',
  'testing/browser/job-operator.test.ts',
]

/** The same for the files on database servers. */
export const QUICK_SERVER_FILES: readonly string[] = [
  'packages/store-redis/test/random-run.test.ts',
  'sdk/test/servers/redis-barrier.test.ts',
  'testing/system/servers/cli-stores.test.ts',
]
