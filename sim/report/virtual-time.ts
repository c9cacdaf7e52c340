/**
 * Virtual time as a diagram shows it: seconds, the unit of Sume's own rules (30 s between attempts, 300 s of
 * tolerance), with a thousands separator and no trailing zeros: `0 s`, `0.25 s`, `30 s`, `3,600 s`.
 */
export function virtualTime(timeMs: number): string {
  const [whole = '', fraction] = String(Number((timeMs / 1000).toFixed(3))).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? `${grouped} s` : `${grouped}.${fraction} s`;
}
