/** A parameter in PostgreSQL's text form, written as node-postgres writes it. */
export function toPostgresText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') {
    return `${value}`;
  }
  if (ArrayBuffer.isView(value)) return `\\x${toHex(value)}`;
  if (value instanceof Date) return dateText(value);
  if (Array.isArray(value)) return arrayText(value);
  if (hasOwnForm(value)) return toPostgresText(value.toPostgres(toPostgresText));
  return JSON.stringify(value);
}

function hasOwnForm(
  value: object,
): value is { toPostgres: (prepare: typeof toPostgresText) => unknown } {
  return 'toPostgres' in value && typeof value.toPostgres === 'function';
}

function arrayText(items: readonly unknown[]): string {
  const texts = items.map((item) => {
    if (Array.isArray(item)) return arrayText(item);
    const text = toPostgresText(item);
    return text === null
      ? 'NULL'
      : `"${text.replaceAll('\\', '\\\\').replaceAll('"', String.raw`\"`)}"`;
  });
  return `{${texts.join(',')}}`;
}

/** Local time with its offset: then a column without a zone holds what the local clock showed. */
function dateText(date: Date): string {
  const offset = -date.getTimezoneOffset();
  const two = (part: number): string => String(part).padStart(2, '0');
  const year = date.getFullYear();
  const day = [
    String(year < 1 ? 1 - year : year).padStart(4, '0'),
    two(date.getMonth() + 1),
    two(date.getDate()),
  ];
  const time = [two(date.getHours()), two(date.getMinutes()), two(date.getSeconds())];
  const zone = `${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  const milliseconds = String(date.getMilliseconds()).padStart(3, '0');
  const sign = offset < 0 ? '-' : '+';
  return `${day.join('-')}T${time.join(':')}.${milliseconds}${sign}${zone}${year < 1 ? ' BC' : ''}`;
}

function toHex({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  return [...new Uint8Array(buffer, byteOffset, byteLength)]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
