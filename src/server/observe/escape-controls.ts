/**
 * Clients choose the names of locks. In a log or on a terminal a control character among them could
 * forge a line, move the cursor or change what is shown, so those and their invisible relatives are
 * written as `\u001b`: in a way that JSON understands, because a line of a log may be JSON.
 */
export function escapeControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
