import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it } from 'vitest'
import { proveDtm, RUN_MS_MAX, runPlanted } from '../dtm-proof.ts'

describeOwn('mariadb', 'XA and recorded workflows on SQLite', () => {
  it(
    'No prepared branch is left behind, and each workflow has one end, in 3 kills of the server and 3 of the participants',
    () => proveDtm('sqlite'),
    RUN_MS_MAX,
  )

  it(
    'A participant that forgets to roll back leaves prepared branches, which the audit finds',
    async () => {
      const { violations } = await runPlanted('no-rollback')
      expect(violations.filter(({ detail }) => detail.endsWith('is left prepared')).length).toBeGreaterThan(0)
    },
    RUN_MS_MAX,
  )

  it(
    'A participant without its barrier leaves a prepared branch and takes effect twice, which the audit finds',
    async () => {
      const { violations } = await runPlanted('no-barrier')
      expect(violations.filter(({ detail }) => detail.endsWith('is left prepared')).length).toBeGreaterThan(0)
      expect(violations.filter(({ invariant }) => invariant === 'I7').length).toBeGreaterThan(0)
    },
    RUN_MS_MAX,
  )
})
