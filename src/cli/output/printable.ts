/**
 * Names come from whoever asked for a lock. On a terminal, a control character among them could move
 * the cursor or change what is shown, so those and their invisible relatives are spelled out.
 */
export function toPrintable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16)
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
}
