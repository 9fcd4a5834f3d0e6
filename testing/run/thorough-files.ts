/**
 * The files that `npm test` leaves to `npm run test:all`: each takes long on two cores, or needs what a newcomer's machine may
 * not have. What they prove is proven more shortly by what stays: the simulator, the unit tests and SQLite from end to end.
 */
export const THOROUGH_FILES: readonly string[] = [
  'bench/test/**/*.test.ts',
  'chaos/test/**/*.test.ts',
  'conformance/src/**/*.test.ts',
  'infra/aws/test/cfn-lint.test.ts',
  'packages/cli/test/keys.e2e.test.ts',
  'packages/dtm/test/golden/golden.test.ts',
  'packages/fastify-plugin/test/face.test.ts',
  'packages/lambda-emulator/test/**/*.test.ts',
  'packages/store-conformance/test/**/*.test.ts',
  'packages/store-sqlite/test/processes.test.ts',
  'packages/store-sqlite/test/reader.test.ts',
  'packages/test-servers/src/**/*.test.ts',
  'sdk/test/grouped/sqlite-groups.test.ts',
  'sdk/test/testing/given-wrongly.test.ts',
  'sdk/test/testing/slowness.test.ts',
  'sdk/test/testing/wrong-services.test.ts',
  'sdk/test/user-drivers/better-sqlite3.test.ts',
  'test/check-by-tools.test.ts',
  'test/compose-file.test.ts',
  'test/e2e/canary.test.ts',
  'test/e2e/clone-without-compiler.test.ts',
  'test/e2e/defects.test.ts',
  'test/e2e/packed-packages.test.ts',
  'test/e2e/packed-projects.test.ts',
  'test/e2e/packed-sdk-types.test.ts',
  'test/e2e/packed-sdk.test.ts',
  'test/e2e/signing-rotation.test.ts',
  'test/security/readers.test.ts',
]

/** The files on database servers that `npm test` runs too, where it finds such a server. */
export const QUICK_SERVER_FILES: readonly string[] = [
  'packages/store-redis/test/random-run.test.ts',
  'sdk/test/servers/redis-barrier.test.ts',
  'test/servers/cli-stores.test.ts',
]
