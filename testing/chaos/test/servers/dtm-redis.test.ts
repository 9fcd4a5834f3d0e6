import { describeOwn } from '@counterstep/test-servers/vitest'
import { it } from 'vitest'
import { proveDtm, RUN_MS_MAX } from '../dtm-proof.ts'

describeOwn('mariadb', 'XA and recorded workflows on Redis', () => {
  describeOwn('redis', 'with servers that share a Redis', () => {
    it(
      'No prepared branch is left behind, and each workflow has one end, in 3 kills of servers and 3 of the participants',
      () => proveDtm('redis'),
      RUN_MS_MAX,
    )
  })
})
