"""The course: contract tests for servers that students write, a checker, and a grader.

README.md is for the department, server.md says what is asked of a server.
"""
