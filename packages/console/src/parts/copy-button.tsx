import { useState } from 'react'

const SHOWN_MS = 1_500

/** Copies a text. On a page without a secure context the text is shown to be copied by hand. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  const copy = async () => {
    const isCopied = await writeClipboard(text)
    setState(isCopied ? 'copied' : 'failed')
    setTimeout(() => setState('idle'), SHOWN_MS)
  }
  const words = { idle: label, copied: 'copied', failed: 'select and copy by hand' }
  return (
    <button type="button" className="small" onClick={() => void copy()} aria-live="polite">
      {words[state]}
    </button>
  )
}

async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // The browser refuses without a secure context or a permission. The caller says so.
    return false
  }
}
