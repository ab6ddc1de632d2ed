"""MiniWoB++ from inside: does every page begin, and does it pay for the right thing?"""
