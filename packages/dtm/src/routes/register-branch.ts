import type { FastifyInstance } from 'fastify'
import type { CommandDeps } from '../commands/deps.ts'
import { registerBranch } from '../commands/register-branch.ts'
import { readRegistration } from '../wire/read-registration.ts'
import { BASE_PATH } from './base-path.ts'
import { bodyOf } from './read-body.ts'
import { STORE_BRANCH } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'

/** The two longer names are those of old clients. */
const PATHS = ['registerBranch', 'registerTccBranch', 'registerXaBranch']

export function registerBranchRoutes(app: FastifyInstance, deps: CommandDeps): void {
  for (const path of PATHS) {
    app.post(`${BASE_PATH}/${path}`, STORE_BRANCH, async (request, reply) =>
      sendAnswer(reply, await registerBranch(readRegistration(bodyOf(request)), deps)),
    )
  }
}
