import { receiveContract } from './receive-contract.ts';
import { useSubject, type OpenDatabase } from './subject.ts';

/** The contract of the core. Every database that it supports runs all of it. */
export function reconcilerContract(open: () => Promise<OpenDatabase>): void {
  const subject = useSubject(open);
  receiveContract(subject);
}
