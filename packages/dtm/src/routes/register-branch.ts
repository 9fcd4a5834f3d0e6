import { readCaller } from '@counterstep/access'
import type { FastifyInstance } from 'fastify'
import type { CommandDeps } from '../commands/deps.ts'
import { registerBranch } from '../commands/register-branch.ts'
import { readRegistration } from '../wire/read-registration.ts'
import { BASE_PATH } from './base-path.ts'
import { STORE_BRANCH } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'
import { takeBody } from './take-body.ts'

/** Old clients use the two longer names. */
const PATHS = ['registerBranch', 'registerTccBranch', 'registerXaBranch']

export function addRegisterBranchRoutes(app: FastifyInstance, deps: CommandDeps): void {
  for (const path of PATHS) {
    app.post(`${BASE_PATH}/${path}`, STORE_BRANCH, async (request, reply) =>
      sendAnswer(
        reply,
        await registerBranch(readRegistration(takeBody(request)), {
          ...deps,
          caller: readCaller(request.raw),
        }),
      ),
    )
  }
}
