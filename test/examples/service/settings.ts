/** What a process of the service is told by its environment. */
export interface Settings {
  databaseUrl: string;
  /** What to listen on: this machine only by default. */
  host: string;
  /** 0 for any free one. */
  port: number;
  /** Where Sume reaches this service from outside; null: the address that it listens on. */
  publicUrl: string | null;
  sume: {
    /** Sume's own by default. */
    baseUrl: string | undefined;
    apiKey: string;
    timeoutMs: number;
    /** Two during a rotation, comma-separated. */
    webhookSecrets: string[];
  };
  /** The core's; see `SweepOptions`. */
  patience: { staleAfterMs: number; recheckMs: number; orphanAfterMs: number };
  /** One sweep in this time, however many processes there are. */
  sweepEverySeconds: number;
  submit: {
    /** How many submits one process has under way at a time. */
    workers: number;
    /** The pause before a submit that failed is tried again. */
    retrySeconds: number;
  };
}

/** The environment lacks something, or holds what cannot be meant. Nothing was started. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly code = 'bad_setting';
}

/** Reads the settings, with defaults for jobs that render for minutes. Throws a `SettingsError`. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const text = (name: string): string => {
    const value = env[name];
    if (value === undefined || value === '') {
      throw new SettingsError(`${name} is not set. Set it in the environment of the service.`);
    }
    return value;
  };
  const whole = (name: string, byDefault: number): number => {
    const value = Number(env[name] ?? byDefault);
    if (Number.isSafeInteger(value) && value >= 0) return value;
    throw new SettingsError(`${name} is ${env[name]}. Set it to a whole number, 0 or more.`);
  };
  return {
    databaseUrl: text('DATABASE_URL'),
    host: env['HOST'] ?? '127.0.0.1',
    port: whole('PORT', 3000),
    publicUrl: env['PUBLIC_URL'] ?? null,
    sume: {
      baseUrl: env['SUME_BASE_URL'],
      apiKey: text('SUME_API_KEY'),
      timeoutMs: whole('SUME_TIMEOUT_MS', 30_000),
      webhookSecrets: text('SUME_WEBHOOK_SECRET').split(','),
    },
    patience: {
      staleAfterMs: whole('STALE_AFTER_MS', 600_000),
      recheckMs: whole('RECHECK_MS', 120_000),
      orphanAfterMs: whole('ORPHAN_AFTER_MS', 300_000),
    },
    sweepEverySeconds: whole('SWEEP_EVERY_SECONDS', 60),
    submit: {
      workers: whole('SUBMIT_WORKERS', 4),
      retrySeconds: whole('SUBMIT_RETRY_SECONDS', 10),
    },
  };
}
