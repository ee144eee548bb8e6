/** As the platform asks for; it has the last word. */
export const leastPassword = 10;

export function passwordProblem(password: string): string | null {
  return password.length < leastPassword ? `Use at least ${leastPassword} characters.` : null;
}
