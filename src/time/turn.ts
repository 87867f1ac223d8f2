/** Resolves when everything that has arrived meanwhile was served: long work lets others go first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
