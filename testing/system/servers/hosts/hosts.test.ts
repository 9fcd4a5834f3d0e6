import { describeOn } from '@counterstep/test-servers/vitest'
import { embeddedHome } from './embedded-host.ts'
import { serverHome } from './server-host.ts'
import { testCrossings } from './test-crossings.ts'

describeOn('mariadb', 'a saga that begins in one home and ends in another', (serverUrl) => {
  testCrossings(serverUrl, [
    { from: embeddedHome, to: serverHome },
    { from: serverHome, to: embeddedHome },
  ])
})
