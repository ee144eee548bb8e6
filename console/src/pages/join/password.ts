/** As the platform asks for; it has the last word. */
export const leastPassword = 10;

export function passwordProblem(password: string): string | null {
  return password.length < leastPassword ? `Use at least ${leastPassword} characters.` : null;
}

/** Only what is surely wrong: `olga@`, `olga`, or nothing. */
export function emailProblem(email: string): string | null {
  return /^[^\s@]+@[^\s@]+$/.test(email.trim()) ? null : "Enter an email address.";
}
