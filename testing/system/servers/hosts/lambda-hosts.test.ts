import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildBundles } from '@counterstep/lambda-emulator'
import { describeLambda } from '@counterstep/lambda-emulator/vitest'
import { describeOn } from '@counterstep/test-servers/vitest'
import { afterAll, beforeAll } from 'vitest'
import { embeddedHome } from './embedded-host.ts'
import { lambdaHome } from './lambda-host.ts'
import { serverHome } from './server-host.ts'
import { testCrossings } from './test-crossings.ts'

const BUILD_MS_MAX = 120_000

describeLambda('functions and other homes', (client) => {
  describeOn('elasticmq', 'with a queue', (queueServerUrl) => {
    describeOn('mariadb', 'a saga that begins in one of them and ends in another', (serverUrl) => {
      let folder = ''

      beforeAll(async () => {
        folder = await mkdtemp(join(tmpdir(), 'counterstep-homes-'))
        await buildBundles(folder)
      }, BUILD_MS_MAX)

      afterAll(() => rm(folder, { recursive: true, force: true }))

      const functions = lambdaHome({ client, queueServerUrl, folder: () => folder })
      testCrossings(
        serverUrl,
        [embeddedHome, serverHome].flatMap((other) => [
          { from: functions, to: other },
          { from: other, to: functions },
        ]),
      )
    })
  })
})
