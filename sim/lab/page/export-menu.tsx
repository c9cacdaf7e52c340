import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { writeLink } from './link.ts';
import { notice, pastedCode, run, step } from './state.ts';

/** A link to this very step, and the trace in forms for elsewhere. */
export function ExportMenu(): JSX.Element {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const closeOutside = ({ target }: Event): void => {
      if (!menu.current?.contains(target as Node)) menu.current?.removeAttribute('open');
    };
    addEventListener('pointerdown', closeOutside);
    addEventListener('focusin', closeOutside);
    return () => {
      removeEventListener('pointerdown', closeOutside);
      removeEventListener('focusin', closeOutside);
    };
  }, []);
  const save = async (form: keyof typeof FORMS): Promise<void> => {
    menu.current?.removeAttribute('open');
    // Not needed for the first picture.
    const { exported } = await import('./exported.ts');
    const { scenario, integration } = run.value;
    const { extension, type } = FORMS[form];
    const content = exported[form](run.value);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([content], { type }));
    // Pasted code is JavaScript.
    const suffix = pastedCode(integration) === null ? extension : extension.replace(/ts$/, 'js');
    link.download = `${scenario}-${integration}.${suffix}`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const share = async (): Promise<void> => {
    const link = writeLink({ token: run.value.token, step: step.value });
    history.replaceState(null, '', link);
    const { href } = location;
    try {
      await navigator.clipboard.writeText(href);
      notice.value = 'The link to this step is copied. Whoever opens it sees the same trace.';
    } catch {
      notice.value =
        'The link to this step is in the address bar: this browser does not let a page copy it.';
    }
  };
  return (
    <div class="share">
      <button onClick={() => void share()}>Copy link</button>
      <details
        ref={menu}
        onKeyDown={({ key }) => {
          if (key !== 'Escape') return;
          menu.current?.removeAttribute('open');
          menu.current?.querySelector('summary')?.focus();
        }}
      >
        <summary>Export</summary>
        <ul>
          {(Object.keys(FORMS) as (keyof typeof FORMS)[]).map((form) => (
            <li key={form}>
              <button
                disabled={form === 'test' && run.value.violations.length === 0}
                onClick={() => void save(form)}
              >
                {FORMS[form].name}
              </button>
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}

/** What a trace can be written as. */
const FORMS = {
  json: { name: 'JSON', extension: 'json', type: 'application/json' },
  mermaid: { name: 'Mermaid diagram', extension: 'mmd', type: 'text/plain' },
  svg: { name: 'SVG picture', extension: 'svg', type: 'image/svg+xml' },
  test: { name: 'Vitest test', extension: 'test.ts', type: 'text/plain' },
} as const;
