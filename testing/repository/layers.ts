/** The imports that a workspace may have. Workspaces are named as their package.json names them. */
export interface Layer {
  /** The path from the repository's root. */
  readonly folder: string
  /** Workspaces that its `src` may import. */
  readonly workspaces: readonly string[]
  /** Workspaces that its tests may import besides. */
  readonly testWorkspaces: readonly string[]
  /** Runtime dependencies from the registry. */
  readonly thirdParty: readonly string[]
  /** Whether `src` may import Node's builtins. */
  readonly builtins: boolean
}

const PROTOCOL = '@counterstep/protocol'
const SIGNATURE = '@counterstep/signature'
const ACCESS = '@counterstep/access'
const CORE = '@counterstep/core'
const ENGINE = '@counterstep/engine'
const TELEMETRY = '@counterstep/telemetry'
const BRANCH_HTTP = '@counterstep/branch-http'
const SQLITE = '@counterstep/store-sqlite'
const STORE_SQL = '@counterstep/store-sql'
const MYSQL = '@counterstep/store-mysql'
const POSTGRES = '@counterstep/store-postgres'
const REDIS = '@counterstep/store-redis'
const TEST_SERVERS = '@counterstep/test-servers'
const LAMBDA_EMULATOR = '@counterstep/lambda-emulator'
const CONFORMANCE = '@counterstep/store-conformance'
const SERVER = '@counterstep/server'
const DTM = '@counterstep/dtm'
const DTM_GRPC = '@counterstep/dtm-grpc'
const CONFIGURATION = '@counterstep/configuration'
const SDK = '@counterstep/sdk'
const EMBEDDED = '@counterstep/embedded'
const FASTIFY_PLUGIN = '@counterstep/fastify-plugin'
const CLI = '@counterstep/cli'
const CONSOLE = '@counterstep/console'
const FUNCTIONS = '@counterstep/functions'
const EXPLAIN = '@counterstep/explain'
const WORKFLOW = '@counterstep/workflow'

/**
 * The permitted imports: hosts → engine → core → protocol. A store knows the core's port, the protocol and its own
 * driver; the SDK knows the protocol, the barrier's decision and signatures; only a composition root (cli, functions)
 * picks a store. A new workspace needs a row here. Nothing lists the bench or the infra folder, and no store another.
 */
export const LAYERS: Readonly<Record<string, Layer>> = {
  // zod only behind the entry /schemas, for which users bring it themselves.
  [PROTOCOL]: layer('packages/protocol', [], { thirdParty: ['zod'], builtins: false }),
  [SIGNATURE]: layer('packages/signature', []),
  // The replay of a workflow. It has no clock, so its host hands it the turns of the event loop.
  [WORKFLOW]: layer('packages/workflow', [PROTOCOL], { builtins: false }),
  // Sentences about what the protocol shows, for the console, the command line and alerts.
  [EXPLAIN]: layer('packages/explain', [PROTOCOL], { builtins: false }),
  // It runs in a browser and knows a server by its interface alone. Its build runs on Node.
  '@counterstep/console': layer('packages/console', [EXPLAIN, PROTOCOL], {
    thirdParty: [
      '@dagrejs/dagre',
      '@tanstack/react-query',
      '@tanstack/react-router',
      '@vitejs/plugin-react',
      'react',
      'react-dom',
      'uplot',
      'vite',
    ],
  }),
  // The two faces' common part: keys and guards know routes, but neither face.
  [ACCESS]: layer('packages/access', [PROTOCOL], { thirdParty: ['fastify'] }),
  [CORE]: layer('packages/core', [PROTOCOL], { builtins: false }),
  [ENGINE]: layer('packages/engine', [CORE, PROTOCOL], { testWorkspaces: [CONFORMANCE] }),
  [BRANCH_HTTP]: layer('packages/branch-http', [CORE, PROTOCOL, SIGNATURE], {
    thirdParty: ['tldts', 'undici'],
    testWorkspaces: [TEST_SERVERS],
  }),
  [SQLITE]: layer('packages/store-sqlite', [CORE, PROTOCOL], {
    testWorkspaces: [CONFORMANCE, TEST_SERVERS],
  }),
  // The queue, the pool and the reading of rows, for the stores on SQL servers.
  [STORE_SQL]: layer('packages/store-sql', [CORE, PROTOCOL]),
  [MYSQL]: layer('packages/store-mysql', [STORE_SQL, CORE, PROTOCOL], {
    thirdParty: ['mysql2'],
    testWorkspaces: [CONFORMANCE, TEST_SERVERS],
  }),
  [POSTGRES]: layer('packages/store-postgres', [STORE_SQL, CORE, PROTOCOL], {
    thirdParty: ['pg'],
    testWorkspaces: [CONFORMANCE, TEST_SERVERS],
  }),
  [REDIS]: layer('packages/store-redis', [CORE, PROTOCOL], {
    thirdParty: ['ioredis'],
    testWorkspaces: [CONFORMANCE, TEST_SERVERS],
  }),
  // An adapter of the engine's tracing port. Its libraries are optional, so the host loads it when traces are wanted.
  [TELEMETRY]: layer('packages/telemetry', [ENGINE, CORE, PROTOCOL], {
    thirdParty: [
      '@opentelemetry/api',
      '@opentelemetry/exporter-metrics-otlp-proto',
      '@opentelemetry/exporter-trace-otlp-proto',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-metrics',
      '@opentelemetry/sdk-node',
    ],
  }),
  [TEST_SERVERS]: layer('testing/test-servers', [], { thirdParty: ['vitest'] }),
  [LAMBDA_EMULATOR]: layer('testing/lambda-emulator', [TEST_SERVERS], {
    thirdParty: ['@aws-sdk/client-sqs', 'vitest'],
  }),
  [CONFORMANCE]: layer('testing/store-conformance', [CORE, PROTOCOL]),
  '@counterstep/simulator': layer('testing/simulator', [CORE, PROTOCOL, WORKFLOW]),
  [SERVER]: layer('packages/server', [ACCESS, ENGINE, CORE, PROTOCOL], {
    thirdParty: ['@fastify/swagger', '@fastify/swagger-ui', 'fastify', 'pino', 'prom-client', 'zod'],
    testWorkspaces: [CONFORMANCE, BRANCH_HTTP, SQLITE, TEST_SERVERS, WORKFLOW],
  }),
  [DTM]: layer('packages/dtm', [ACCESS, ENGINE, CORE, PROTOCOL], {
    thirdParty: ['fastify'],
    testWorkspaces: [CONFORMANCE, BRANCH_HTTP, SQLITE, TEST_SERVERS],
  }),
  // DTM's other face. Its library is optional, so it is loaded where the face is wanted.
  [DTM_GRPC]: layer('packages/dtm-grpc', [ACCESS, BRANCH_HTTP, DTM, ENGINE, PROTOCOL], {
    thirdParty: ['protobufjs'],
    testWorkspaces: [CORE, SQLITE, TEST_SERVERS],
  }),
  // Hosts have this in common: which settings there are and what they mean. It opens nothing.
  [CONFIGURATION]: layer('packages/configuration', [ACCESS, BRANCH_HTTP, CORE, ENGINE, PROTOCOL, SIGNATURE], {
    thirdParty: ['zod'],
  }),
  // A composition root that picks no store: the user hands one over.
  [EMBEDDED]: layer('packages/embedded', [SERVER, DTM, ENGINE, CORE, PROTOCOL, BRANCH_HTTP], {
    testWorkspaces: [SDK, SQLITE],
  }),
  [FASTIFY_PLUGIN]: layer('packages/fastify-plugin', [ACCESS, CONSOLE, SERVER, EMBEDDED, ENGINE, PROTOCOL], {
    thirdParty: ['fastify', 'fastify-plugin'],
    testWorkspaces: [CORE, SDK, SQLITE],
  }),
  [CLI]: layer(
    'packages/cli',
    [
      CONFIGURATION,
      ACCESS,
      CONSOLE,
      SERVER,
      DTM,
      DTM_GRPC,
      ENGINE,
      CORE,
      PROTOCOL,
      SQLITE,
      MYSQL,
      POSTGRES,
      REDIS,
      BRANCH_HTTP,
      SIGNATURE,
      TELEMETRY,
      // The commands of operators are clients of a server.
      SDK,
      EXPLAIN,
    ],
    {
      testWorkspaces: [TEST_SERVERS],
    },
  ),
  [FUNCTIONS]: layer(
    'functions',
    [
      ACCESS,
      CONFIGURATION,
      SERVER,
      DTM,
      ENGINE,
      CORE,
      PROTOCOL,
      MYSQL,
      POSTGRES,
      REDIS,
      BRANCH_HTTP,
      SIGNATURE,
    ],
    {
      thirdParty: ['@aws-sdk/client-secrets-manager', '@aws-sdk/client-sqs', '@fastify/aws-lambda'],
      testWorkspaces: [CONFORMANCE, LAMBDA_EMULATOR, SDK, TEST_SERVERS],
    },
  ),
  // The entries that users import. It has no code of its own.
  counterstep: layer('packages/counterstep', [
    CLI,
    EMBEDDED,
    FASTIFY_PLUGIN,
    FUNCTIONS,
    PROTOCOL,
    SIGNATURE,
    MYSQL,
    POSTGRES,
    REDIS,
    SQLITE,
    TELEMETRY,
  ]),
  [SDK]: layer('sdk', [PROTOCOL, SIGNATURE, WORKFLOW], {
    // Users bring it themselves, and only its entry /telemetry needs it.
    thirdParty: ['@opentelemetry/api'],
    testWorkspaces: [SERVER, ENGINE, CORE, CONFORMANCE, BRANCH_HTTP, SQLITE, TEST_SERVERS],
  }),
  '@counterstep/example-bank': layer('examples/bank', [SDK], {
    thirdParty: ['fastify'],
  }),
  '@counterstep/example-express-fastify-transfer': layer('examples/express-fastify-transfer', [SDK], {
    thirdParty: ['express', 'fastify', 'mysql2', 'pg'],
    testWorkspaces: [TEST_SERVERS],
  }),
  '@counterstep/example-order': layer('examples/order', [SDK], {
    thirdParty: ['fastify'],
  }),
  '@counterstep/dtm-conformance': layer('testing/dtm-conformance', [TEST_SERVERS], {
    thirdParty: ['mysql2'],
  }),
  '@counterstep/chaos': layer(
    'testing/chaos',
    [
      SDK,
      SERVER,
      ENGINE,
      CORE,
      PROTOCOL,
      BRANCH_HTTP,
      SQLITE,
      MYSQL,
      FASTIFY_PLUGIN,
      TEST_SERVERS,
      LAMBDA_EMULATOR,
      '@counterstep/example-bank',
    ],
    { thirdParty: ['fastify', 'ioredis', 'mysql2', 'pg', 'undici'] },
  ),
  '@counterstep/bench': layer(
    'bench',
    [SDK, TEST_SERVERS, LAMBDA_EMULATOR, CORE, ENGINE, BRANCH_HTTP, EMBEDDED, SQLITE, MYSQL, POSTGRES, REDIS],
    { thirdParty: ['autocannon', 'fastify', 'ioredis', 'mysql2', 'pg', 'undici'] },
  ),
}

/** Entries of a workspace that may import what the rest of it may not. */
export const THIRD_PARTY_ENTRIES: Readonly<Record<string, string>> = {
  [PROTOCOL]: 'packages/protocol/src/schemas',
  [TEST_SERVERS]: 'testing/test-servers/src/vitest/',
}

/** Modules of a workspace that alone may import some of what its row has. */
export interface Enclave {
  readonly workspaces: readonly string[]
  readonly folder: string
  /** The module of the folder that all others of the workspace may import. */
  readonly entry: string
  /** Modules elsewhere that may import all that those of the folder may. */
  readonly outside: readonly string[]
}

export const ENCLAVES: Readonly<Record<string, Enclave>> = {
  // The relay that writes as a saga does; all else measures from outside.
  '@counterstep/bench': {
    workspaces: [CORE, ENGINE, BRANCH_HTTP, EMBEDDED, SQLITE, MYSQL, POSTGRES, REDIS],
    folder: 'bench/src/two-writes-baseline/',
    entry: 'bench/src/two-writes-baseline/start-two-writes-baseline.ts',
    // The list is asked for in the store itself, which a million rows are put into by its own calls. One program has an orchestrator.
    outside: [
      'bench/src/processes/in-process.ts',
      'bench/src/processes/two-writes-baseline.ts',
      'bench/src/scenarios/lists/fill-rows.ts',
      'bench/src/scenarios/lists/list-pages.ts',
      'bench/test/two-writes-baseline.test.ts',
    ],
  },
}

/** Modules that may import what is not written down: the user's choice of a driver, the test's choice of a store. */
export const COMPUTED_IMPORTS: ReadonlySet<string> = new Set([
  'packages/store-sqlite/src/sqlite-worker.ts',
  'packages/store-sqlite/src/sqlite-reader.ts',
  'testing/store-conformance/src/open-store-at.ts',
])

function layer(
  folder: string,
  workspaces: readonly string[],
  more: Partial<Pick<Layer, 'testWorkspaces' | 'thirdParty' | 'builtins'>> = {},
): Layer {
  return { folder, workspaces, testWorkspaces: [], thirdParty: [], builtins: true, ...more }
}
