const SUBJECT = 'svc: work in progress';

/** Names a commit of what a worker left uncommitted. */
export const nameSavedWork = (of: string): string => `${SUBJECT} of ${of}`;

/** Reports whether svc made a commit because its worker did not, by its subject. */
export const isSavedWork = (subject: string): boolean =>
  subject === SUBJECT || subject.startsWith(`${SUBJECT} `);
