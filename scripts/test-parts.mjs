import { join } from 'node:path'
import { nodeEnvironment } from './fitting-node.mjs'
import { command, suite, told, withTemporaryFolder } from './test-part.mjs'

const PREPARE_CHECKS_OF_INFRA = 'infra/test/prepare.ts'
const PREPARE_CLIENTS = 'testing/dtm-conformance/src/prepare.ts'
const PREPARE_LAMBDA = 'testing/lambda-emulator/src/prepare.ts'
const PREPARE_SERVERS = 'testing/test-servers/src/install/prepare.ts'
/** Four of them, the default, end no sooner on two cores, and take a third more CPU time. */
const ONE_CHECKER = ['--checkers', '1']

/**
 * The parts of `npm test` (`quick`), of what it leaves out (`rest`), or both (`all`): the stages follow one another, and the
 * parts of one go on at once. `run` gets a stream for what is not to be shown yet, or nothing, and answers
 * { passed, failed, skipped }: a number, the names that failed, and the names with reasons that were skipped.
 */
export function testStages(root, node, selection) {
  const stages = {
    quick: () => quickStages(root, node),
    rest: () => restStages(root, node),
    all: () => [...quickStages(root, node), ...restStages(root, node)],
  }
  return stages[selection]()
}

/** Makes what names the command of a tool that is installed here. */
function makeTool(root, node) {
  return (path, ...args) => [node, join(root, 'node_modules', path), ...args]
}

function quickStages(root, node) {
  const tool = makeTool(root, node)
  const start = [process.execPath, join(root, 'scripts', 'start.mjs'), '--once', '--port', '0']
  const context = { root, env: { ...nodeEnvironment(node), TEST_SELECTION: 'quick' } }
  const typesOfTests = tool('typescript/bin/tsc', '-p', 'tsconfig.tests.json', ...ONE_CHECKER)
  return [
    {
      name: 'checks',
      parts: [
        command('types', 300_000, tool('typescript/bin/tsc', '-b', ...ONE_CHECKER), context),
        command('format and lint', 300_000, tool('@biomejs/biome/bin/biome', 'ci', '.'), context),
      ],
    },
    // It reads what the first has compiled.
    { name: 'checks', parts: [command('types of tests', 300_000, typesOfTests, context)] },
    { name: 'suites', parts: [suite('tests', 900_000, tool('vitest/vitest.mjs', 'run'), context)] },
    {
      name: 'suites',
      parts: [
        withTemporaryFolder('npm start -- --once', (folder, held) =>
          command('npm start -- --once', 120_000, [...start, '--data', folder], context).run(held),
        ),
      ],
    },
  ]
}

function restStages(root, node) {
  const tool = makeTool(root, node)
  const program = (path) => [node, join(root, path)]
  const context = {
    root,
    env: { ...nodeEnvironment(node), TEST_SELECTION: 'rest', TEST_INSTALL: 'yes' },
  }
  return [
    {
      name: 'installation and compilation',
      parts: [
        // The first run on a machine may install servers and download one.
        command('servers for the tests', 900_000, program(PREPARE_SERVERS), context),
        // Compiles for a minute the first time on a machine.
        command('runtime client of Lambda', 600_000, program(PREPARE_LAMBDA), context),
        // Three programs, in Go, Python and Java, which take a minute and more the first time.
        command('programs with clients of DTM', 1_500_000, program(PREPARE_CLIENTS), context),
      ],
    },
    {
      name: 'installation and compilation',
      // Not beside the servers, since both may install by apt-get. The first run on a machine downloads a Debian, and compiles
      // Helm and the types of Grafana for some minutes.
      parts: [
        command(
          'tools for images, templates and charts',
          1_200_000,
          program(PREPARE_CHECKS_OF_INFRA),
          context,
        ),
      ],
    },
    {
      name: 'thorough suites',
      parts: [suite('thorough tests', 3_300_000, tool('vitest/vitest.mjs', 'run'), context)],
    },
    {
      name: 'thorough suites',
      parts: [
        told('clients of DTM', 900_000, program('testing/dtm-conformance/src/main.ts'), context),
        // The first run on a machine installs it from PyPI.
        told('schemathesis', 300_000, program('testing/chaos/src/fuzz/schemathesis.ts'), context),
        // The first run on a machine downloads all that the Dockerfile's build installs.
        told('container images', 900_000, program('infra/test/main.ts'), context),
      ],
    },
  ]
}
