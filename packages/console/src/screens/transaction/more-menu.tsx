import type { OfferedCommand } from '../../commands/allow-commands.ts'
import { Menu } from '../../parts/menu.tsx'

interface MoreMenuProps {
  readonly offered: readonly OfferedCommand[]
  readonly onGive: (offered: OfferedCommand) => void
}

/** A command that is not allowed stays there, with the reason. */
export function MoreMenu({ offered, onGive }: MoreMenuProps) {
  if (offered.length === 0) return null
  return (
    <Menu words="More">
      {(list) =>
        offered.map((each) => (
          <button
            key={each.command}
            type="button"
            className="plain"
            disabled={each.refusal !== undefined}
            onClick={() => {
              list.current?.hidePopover()
              onGive(each)
            }}
          >
            {each.words}…<span className="quiet">{each.refusal ?? each.hint}</span>
          </button>
        ))
      }
    </Menu>
  )
}
