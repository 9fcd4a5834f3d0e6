/**
 * The files that change what others of their process would see: its clock, its environment, its globals; and one that
 * counts what lives, for which all that the others left in the heap is walked. Each runs in a process of its own; all others
 * share a few, which saves each of them the loading of its modules.
 */
export const ALONE_FILES: readonly string[] = [
  'functions/test/api-handler.test.ts',
  'functions/test/secret-keys.test.ts',
  'functions/test/silent-services.test.ts',
  'functions/test/sqs-queue.test.ts',
  'packages/branch-http/test/deadline-wheel.test.ts',
  'packages/branch-http/test/grpc/ended-sessions.test.ts',
  'packages/branch-http/test/handshake-rests.test.ts',
  'packages/branch-http/test/hostile.test.ts',
  'packages/cli/test/wait-for-store.test.ts',
  'packages/dtm-grpc/src/receive-turns.test.ts',
  'packages/dtm-grpc/test/ended-connections.test.ts',
  'packages/dtm-grpc/test/waiting-messages.test.ts',
  'packages/engine/test/alerts.test.ts',
  'packages/store-redis/src/links/answer-deadline.test.ts',
  'sdk/test/grouped/group-queue.test.ts',
  'sdk/test/grouped/idle-queues.test.ts',
  'sdk/test/operator/watch.test.ts',
  'sdk/test/transport/client-elsewhere.test.ts',
  'sdk/test/transport/client-without-navigator.test.ts',
  'sdk/test/workflow/unhandled-rejections.test.ts',
  'testing/system/e2e/defects.test.ts',
  'testing/system/e2e/packed-packages.test.ts',
  'testing/system/security/kept-texts.test.ts',
  'testing/system/security/prototypes.test.ts',
  'testing/system/security/waiting-bodies.test.ts',
]
