import { hash } from 'node:crypto';

/** The icon of the pages in a browser's tab: a tick. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5cad"/><path d="M8 17l5.5 5.5L24 11" fill="none" stroke="#fff" stroke-width="4" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

/** Browsers cache it for an hour: a changed one has another address. */
export const ICON_PATH = `/icon.svg?v=${hash('sha256', ICON, 'hex').slice(0, 8)}`;
