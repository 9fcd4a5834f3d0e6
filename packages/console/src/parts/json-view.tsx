import { CopyButton } from './copy-button.tsx'

/** Answers are text nodes, whatever is in them. */
export function JsonView({ value }: { readonly value: unknown }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <div className="json">
      <CopyButton text={text} label="Copy" />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area is reached by keyboard too. */}
      <pre tabIndex={0}>{text}</pre>
    </div>
  )
}
