import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, startKept, startMysql, startPostgres } from '@counterstep/test-servers'
import type { ComposeProject, ComposeService } from '../compose/load-project.ts'
import { readOutput, runCommand } from '../run-command.ts'

const ROOT_LOGIN = ['--user=root', '--host=127.0.0.1'] as const
const ANSWER_TRIES_MAX = 500

export interface RunningStore {
  readonly port: number
  stop(): Promise<unknown>
}

/** Starts a MySQL as its image sets it up: root has its password, and one user has all rights on one database. */
export async function startComposeMysql(project: ComposeProject): Promise<RunningStore> {
  const server = await startMysql()
  const { MYSQL_DATABASE: database, MYSQL_USER: user } = getService(project, 'mysql').environment ?? {}
  const sql = `CREATE DATABASE ${database};
    CREATE USER ${user}@'%' IDENTIFIED BY '${readSecret(project, 'mysql-migrate-password')}';
    GRANT ALL ON ${database}.* TO ${user}@'%';
    ALTER USER CURRENT_USER() IDENTIFIED BY '${readSecret(project, 'mysql-root-password')}';`
  await readOutput('mysql', [...ROOT_LOGIN, `--port=${server.port}`, '--execute', sql])
  return { port: server.port, stop: () => server.stop() }
}

/** Starts a PostgreSQL as its image sets it up: one user, who may do everything, and one database. */
export async function startComposePostgres(project: ComposeProject): Promise<RunningStore> {
  const server = await startPostgres()
  const { POSTGRES_USER: user, POSTGRES_DB: database } = getService(project, 'postgres').environment ?? {}
  const login = ['--no-psqlrc', '--host=127.0.0.1', `--port=${server.port}`, `--username=${user}`]
  await readOutput('psql', [...login, '--dbname=postgres', `--command=CREATE DATABASE ${database}`])
  return { port: server.port, stop: () => server.stop() }
}

/** Runs the script of a service that grants rights, with this machine's client, which reads the variables of `place`. */
export async function runGrant(
  project: ComposeProject,
  root: string,
  name: string,
  place: Readonly<Record<string, string>>,
): Promise<void> {
  const args = getService(project, name).entrypoint?.slice(1) ?? []
  const env = { ...process.env, ...buildLocalVariables(project, name), ...place }
  await readOutput(
    'sh',
    args.map((path) => join(root, 'infra', path)),
    { env },
  )
}

/** Runs the script of the service `redis`, without the image's entrypoint, which only changes the user. */
export async function startComposeRedis(
  project: ComposeProject,
  root: string,
  folder: string,
): Promise<RunningStore> {
  const [programs, data, port] = [join(folder, 'bin'), join(folder, 'redis'), await freePort()]
  for (const each of [programs, data]) mkdirSync(each)
  const entrypoint = join(programs, 'docker-entrypoint.sh')
  writeFileSync(entrypoint, '#!/bin/sh\nexec "$@"\n')
  chmodSync(entrypoint, 0o755)
  const variables = { ...buildLocalVariables(project, 'redis'), USERS_FILE: join(folder, 'users.acl') }
  const given = Object.entries({ ...variables, PATH: `${programs}:${process.env.PATH}` })
  const script = join(root, 'infra', 'redis', 'start-redis.sh')
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', data]
  const args = [...given.map(([name, value]) => `${name}=${value}`), 'sh', script, ...options]
  const server = await startKept('env', args, join(folder, 'redis.log'))
  await waitUntilHealthy(project, port, join(folder, 'redis.log'))
  return {
    port,
    stop: async () => {
      await server.signal('SIGTERM')
      await server.end(30_000)
    },
  }
}

/** Waits until the health check of the compose file passes. */
async function waitUntilHealthy(project: ComposeProject, port: number, log: string): Promise<void> {
  const [, command = '', ...args] = getService(project, 'redis').healthcheck?.test ?? []
  for (let tries = 0; tries < ANSWER_TRIES_MAX; tries++) {
    const { stdout } = await runCommand(command, ['-p', String(port), ...args])
    if (stdout.trim() === 'PONG') return
  }
  throw new Error(`Redis does not answer its health check: ${readFileSync(log, 'utf8')}`)
}

export function getService(project: ComposeProject, name: string): ComposeService {
  const service = project.services[name]
  if (service === undefined) throw new Error(`there is no service ${name}`)
  return service
}

function readSecret(project: ComposeProject, name: string): string {
  return readFileSync(project.secrets[name]?.file ?? '', 'utf8').trim()
}

/** Builds the variables of a service, with the paths that its secrets have on this machine. */
function buildLocalVariables(project: ComposeProject, name: string): Record<string, string> {
  const variables = Object.entries(getService(project, name).environment ?? {})
  return Object.fromEntries(
    variables.map(([key, value]) => {
      const secret = /^\/run\/secrets\/(.+)$/.exec(value)?.[1]
      return [key, secret === undefined ? value : (project.secrets[secret]?.file ?? value)]
    }),
  )
}
