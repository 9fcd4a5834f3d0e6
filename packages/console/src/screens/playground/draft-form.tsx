import { OPEN_KINDS } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { devQuery } from '../../api/dev.ts'
import { BranchForm } from './branch-form.tsx'
import {
  addBranch,
  changeBranch,
  changeKind,
  type Draft,
  listBranches,
  readKind,
  removeBranch,
  setField,
} from './draft.ts'
import { readTags, writeTags } from './tags-text.ts'
import { TextField } from './text-field.tsx'

interface DraftFormProps {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
}

export function DraftForm({ draft, onChange }: DraftFormProps) {
  const { data: dev } = useQuery(devQuery)
  const kind = readKind(draft)
  const branches = listBranches(draft)
  return (
    <form className="draft" onSubmit={(event) => event.preventDefault()}>
      <fieldset className="segments">
        <legend className="unseen">Kind</legend>
        {OPEN_KINDS.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={kind === each}
            onClick={() => onChange(changeKind(draft, each))}
          >
            {each}
          </button>
        ))}
      </fieldset>
      <div className="two">
        <TextField
          label="name"
          value={toText(draft.name)}
          onChange={(text) => onChange(setField(draft, 'name', text))}
        />
        <TextField
          label="tags"
          placeholder="region:eu tier:2"
          value={writeTags(draft.tags)}
          onChange={(text) => onChange(setField(draft, 'tags', readTags(text)))}
        />
      </div>
      {branches.map((branch, index) => (
        <BranchForm
          // biome-ignore lint/suspicious/noArrayIndexKey: a branch is its place while its id is being typed.
          key={index}
          kind={kind}
          branch={branch}
          isBreakable={dev != null}
          onChange={(next) => onChange(changeBranch(draft, index, next))}
          onRemove={() => onChange(removeBranch(draft, index))}
        />
      ))}
      <button type="button" onClick={() => onChange(addBranch(draft))}>
        + Branch
      </button>
    </form>
  )
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
