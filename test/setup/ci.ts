/** Whether this run is to prove something: what cannot be tested is a failure then. */
export function isCi(): boolean {
  const { CI } = process.env;
  return CI !== undefined && CI !== '' && CI !== 'false';
}
