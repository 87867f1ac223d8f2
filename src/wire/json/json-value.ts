/** JSON that is kept as text inside, as the value that it is outside. Text that is none stays text. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
