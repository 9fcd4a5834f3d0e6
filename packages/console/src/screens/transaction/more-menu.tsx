import { useId, useRef } from 'react'
import type { OfferedCommand } from '../../commands/allow-commands.ts'

interface MoreMenuProps {
  readonly offered: readonly OfferedCommand[]
  readonly onGive: (offered: OfferedCommand) => void
}

/** The browser's own popover. What is not allowed stays there, with the reason. */
export function MoreMenu({ offered, onGive }: MoreMenuProps) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const give = (each: OfferedCommand) => {
    list.current?.hidePopover()
    onGive(each)
  }
  if (offered.length === 0) return null
  return (
    <span className="menu">
      <button type="button" popoverTarget={id}>
        More ▾
      </button>
      <div id={id} ref={list} popover="auto">
        {offered.map((each) => (
          <button
            key={each.command}
            type="button"
            className="plain"
            disabled={each.refusal !== undefined}
            onClick={() => give(each)}
          >
            {each.words}…<span className="quiet">{each.refusal ?? each.hint}</span>
          </button>
        ))}
      </div>
    </span>
  )
}
