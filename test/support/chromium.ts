import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Chromium as Debian installs it, or as it lies on the path; null when there is none. */
export const findChromium = (): string | null =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => [join(folder, 'chromium'), join(folder, 'chromium-browser')])
    .find((file) => existsSync(file)) ?? null;

/** Options of a test or suite that needs a browser: where there is none it is skipped, and says why. */
export const withChromium = { skip: findChromium() === null ? 'chromium is not installed' : false };

export const openChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findChromium()!,
    args: [
      // Grey edges of letters make smaller pictures than coloured ones.
      '--disable-lcd-text',
      // Its own sandbox refuses to start as root, as in a container.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });

/** What a page is looked at with. */
export interface Look {
  width: number;
  height: number;
  colorScheme: 'light' | 'dark';
}

export const LOOKS: readonly Look[] = [
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 1280, height: 800, colorScheme: 'dark' },
];

export async function setLook(page: Page, { width, height, colorScheme }: Look): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme });
}

/** A page of its own session, and everything that it complained about or asked others for. */
export async function openPage(
  browser: Browser,
  origin: string,
): Promise<{ page: Page; context: BrowserContext; complaints: string[] }> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC' });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // An answer of 403 or 404 is said by the page itself.
    if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) complaints.push(`asked ${request.url()}`);
    if (request.resourceType() === 'script') complaints.push(`script ${request.url()}`);
  });
  return { page, context, complaints };
}
