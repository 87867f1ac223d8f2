/** A month in UTC, such as `2026-11`; in order as text. */
export type CalendarMonth = string

export function monthOf(atMs: number): CalendarMonth {
  return new Date(atMs).toISOString().slice(0, 7)
}

/** The one that comes so many months later. */
export function addMonths(month: CalendarMonth, count: number): CalendarMonth {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return monthOf(Date.UTC(year, number - 1 + count))
}

/** From the first to the last, both included; empty where the last is earlier. */
export function monthsBetween(first: CalendarMonth, last: CalendarMonth): CalendarMonth[] {
  const months: CalendarMonth[] = []
  for (let month = first; month <= last; month = addMonths(month, 1)) months.push(month)
  return months
}

/** Its first day, as all databases read it. */
export function startOf(month: CalendarMonth): string {
  return `${month}-01 00:00:00`
}
