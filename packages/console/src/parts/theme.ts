import type { Theme } from './preferences.ts'

/** `light-dark()` in the style sheets follows the colour scheme of the root. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
}

export function nextTheme(theme: Theme): Theme {
  if (theme === 'system') return matchMedia('(prefers-color-scheme: dark)').matches ? 'light' : 'dark'
  return theme === 'dark' ? 'light' : 'dark'
}
