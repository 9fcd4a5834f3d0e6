import { describeOwn } from '@counterstep/test-servers/vitest'
import { it } from 'vitest'
import { proveDtm, RUN_MS_MAX } from '../dtm-proof.ts'

describeOwn('mariadb', 'XA and recorded workflows on MariaDB', () => {
  it(
    'No prepared branch is left behind, and each workflow has one end, in 3 kills of servers and 3 of the participants',
    () => proveDtm('mysql'),
    RUN_MS_MAX,
  )
})
