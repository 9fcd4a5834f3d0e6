import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildBundles } from '@counterstep/lambda-emulator'
import { describeLambda } from '@counterstep/lambda-emulator/vitest'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll } from 'vitest'
import { embeddedHost } from './embedded-host.ts'
import { lambdaHost } from './lambda-host.ts'
import { serverHost } from './server-host.ts'
import { testCrossings } from './test-crossings.ts'

const BUILD_MS_MAX = 120_000

describeLambda('functions and other hosts', (client) => {
  describeOn('elasticmq', 'with a queue', (queueServerUrl) => {
    describeOn('mariadb', 'a saga that begins at one host and ends at another', (serverUrl) => {
      let folder = ''

      beforeAll(async () => {
        folder = await mkdtemp(join(tmpdir(), 'counterstep-hosts-'))
        await buildBundles(folder)
      }, BUILD_MS_MAX)

      afterAll(() => rm(folder, { recursive: true, force: true }))

      const functions = lambdaHost({ client, queueServerUrl, folder: () => folder })
      testCrossings(
        serverUrl,
        [embeddedHost, serverHost].flatMap((other) => [
          { from: functions, to: other },
          { from: other, to: functions },
        ]),
      )
    })
  })
})
