import { render } from 'preact';
import { App } from './page/app.tsx';
import { start } from './page/state.ts';

const place = document.getElementById('lab');
if (place === null) throw new Error('The page has no place for the lab.');
// The simulator starts in a thread of its own, while the first picture is being made in this one.
start();
render(<App />, place);
