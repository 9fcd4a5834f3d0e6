import { describeOn } from '@counterstep/test-servers/vitest'
import { embeddedHost } from './embedded-host.ts'
import { serverHost } from './server-host.ts'
import { testCrossings } from './test-crossings.ts'

describeOn('mariadb', 'a saga that begins at one host and ends at another', (serverUrl) => {
  testCrossings(serverUrl, [
    { from: embeddedHost, to: serverHost },
    { from: serverHost, to: embeddedHost },
  ])
})
